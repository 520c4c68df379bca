import type { Approval } from "@perch/sdk";
import { Keys } from "../../../frame/keys.tsx";
import { Button } from "../../../parts/button.tsx";
import { ContentView } from "../../../parts/content-view.tsx";
import { SchemaForm } from "../../../parts/schema-form/schema-form.tsx";
import type { Draft } from "./use-draft.ts";

type Contents = NonNullable<Approval["contents"]>;

interface ArgumentsSectionProps {
  readonly contents: Contents;
  readonly draft: Draft;
  readonly isEditing: boolean;
  readonly onEdit: (isEditing: boolean) => void;
  readonly canEdit: boolean;
}

/** The exact arguments of the call, to read or to change. */
export const ArgumentsSection = ({ contents, draft, isEditing, onEdit, canEdit }: ArgumentsSectionProps) => (
  <section className="flex flex-col gap-2">
    <h2 className="sr-only">The call</h2>
    {isEditing ? (
      <>
        <div className="flex items-center gap-2">
          <h3 className="text-body">Arguments</h3>
          <Button kind="quiet" className="ml-auto" onClick={() => onEdit(false)}>
            Discard changes
          </Button>
        </div>
        <SchemaForm
          name="Arguments"
          schema={contents.parameters}
          value={draft.value}
          onChange={draft.change}
          problems={draft.problems}
        />
      </>
    ) : (
      <>
        <ContentView title="Arguments" what="the arguments" value={contents.arguments} />
        {canEdit && (
          <Button className="self-start" onClick={() => onEdit(true)} aria-keyshortcuts="e">
            Edit arguments
            <Keys keys="e" className="max-lg:hidden" />
          </Button>
        )}
      </>
    )}
    {contents.original_arguments !== undefined && (
      <details>
        <summary className="cursor-pointer text-table">A person changed them: see what the model wrote</summary>
        <ContentView
          title="As the model wrote them"
          what="the arguments as the model wrote them"
          value={contents.original_arguments}
        />
      </details>
    )}
  </section>
);
