import type { Agent } from "@perch/sdk";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { classNames } from "../../../parts/class-names.ts";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { MayNot } from "../../../parts/may-not.tsx";
import { Working } from "../../../parts/working.tsx";
import { LeaveGuard } from "../../../session/leave-guard.tsx";
import { useCan } from "../../../session/session.ts";
import { useSayUnsaved } from "../unsaved-changes.ts";
import { ConflictNote } from "./conflict-note.tsx";
import { DefinitionBar } from "./definition-bar.tsx";
import { DefinitionForm } from "./definition-form.tsx";
import type { Schema } from "./definition-schema.ts";
import { CheckResult, useDraftCheck } from "./draft-check.tsx";
import { LiveChanges } from "./live-changes.tsx";
import { type Definition, useDefinition } from "./use-definition.ts";
import type { YamlEditorProps } from "./yaml-editor.tsx";

const route = getRouteApi("/signed-in/agents/$agent/definition");

// Loaded in two parts at the same time: the editor itself, and its support for YAML and agents.
const YamlEditor = lazy(async () => {
  const [{ createYamlExtensions }, { YamlEditor: Editor }] = await Promise.all([
    import("./yaml-extensions.ts"),
    import("./yaml-editor.tsx"),
  ]);
  return {
    default: (props: Omit<YamlEditorProps, "createExtensions">) => (
      <Editor {...props} createExtensions={createYamlExtensions} />
    ),
  };
});

interface DefinitionEditorProps {
  readonly agentRef: string;
  readonly agent: Agent;
  readonly schema: Schema;
}

interface ViewProps extends DefinitionEditorProps {
  readonly definition: Definition;
  readonly canWrite: boolean;
}

function View({ agent, agentRef, schema, definition, canWrite }: ViewProps) {
  const { view = "form" } = route.useSearch();
  if (view === "changes") return <LiveChanges agentRef={agentRef} isDirty={definition.isDirty} />;
  if (view === "yaml")
    return (
      <Suspense fallback={<Working what="the editor" />}>
        <YamlEditor definition={definition} schema={schema} readOnly={!canWrite} />
      </Suspense>
    );
  return <DefinitionForm agent={agent} definition={definition} schema={schema} readOnly={!canWrite} />;
}

/** The draft, as a form or as YAML. Both edit one document, which stays when the user switches between them. */
export function DefinitionEditor(props: DefinitionEditorProps) {
  const definition = useDefinition(props.agentRef, props.agent, props.schema);
  useSayUnsaved(definition.isDirty);
  const { view } = route.useSearch();
  const check = useDraftCheck(props.agent, definition.isDirty);
  const canWrite = useCan("write");
  const { error, changedMeanwhile, overwrite, discard } = definition;
  return (
    // The editor scrolls by itself; the other views scroll with the page.
    <div className={classNames("flex flex-col", view === "yaml" ? "h-full min-h-80" : "min-h-full")}>
      {/* Messages about saving and checking stay in sight however far the user has scrolled. */}
      <div className="sticky top-0 z-10 max-h-[60vh] overflow-auto border-line border-b bg-page px-4 pb-2 text-table [&>*:not(:empty)]:mt-2">
        <DefinitionBar definition={definition} check={check} canWrite={canWrite} />
        {!canWrite && <MayNot what="change this definition" permission="write" />}
        {changedMeanwhile && (
          <ConflictNote
            agent={changedMeanwhile}
            onOverwrite={overwrite}
            onReload={discard}
            isSaving={definition.isSaving}
          />
        )}
        {Boolean(error) && <ErrorNote error={error} />}
        <CheckResult check={check} />
      </div>
      <View {...props} definition={definition} canWrite={canWrite} />
      <LeaveGuard
        isDirty={definition.isDirty}
        description="Your changes to the definition are not saved. They are lost when you leave this page."
      />
    </div>
  );
}
