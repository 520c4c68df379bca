import { getRouteApi, Link } from "@tanstack/react-router";
import { Button } from "../../../parts/button.tsx";
import { classNames } from "../../../parts/class-names.ts";
import { CheckButton, type DraftCheck } from "./draft-check.tsx";
import type { Definition } from "./use-definition.ts";

const route = getRouteApi("/signed-in/agents/$agent/definition");

const views = [
  { view: undefined, name: "Form" },
  { view: "yaml", name: "YAML" },
  { view: "changes", name: "Changes to live" },
] as const;

const Views = () => {
  const { view: current } = route.useSearch();
  const { agent } = route.useParams();
  return (
    <nav aria-label="Views of the definition" className="flex rounded border border-line-strong">
      {views.map(({ view, name }) => (
        <Link
          key={name}
          to="/agents/$agent/definition"
          params={{ agent }}
          search={(search) => ({ ...search, view })}
          replace
          aria-current={view === current ? "true" : undefined}
          className={classNames(
            "flex h-7 items-center px-3 text-table first:rounded-l last:rounded-r",
            view === current ? "bg-accent-soft font-medium" : "text-muted hover:bg-sunken hover:text-text",
          )}
        >
          {name}
        </Link>
      ))}
    </nav>
  );
};

interface DefinitionBarProps {
  readonly definition: Definition;
  readonly check: DraftCheck;
  readonly canWrite: boolean;
}

export const DefinitionBar = ({ definition, check, canWrite }: DefinitionBarProps) => {
  const { isDirty, isSaving, parsed, save, discard } = definition;
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Views />
      <div className="ml-auto flex items-center gap-2">
        <span role="status" className="text-muted text-small">
          {isDirty ? "Unsaved changes" : ""}
        </span>
        {canWrite && isDirty && (
          <Button kind="quiet" onClick={discard}>
            Discard changes
          </Button>
        )}
        {canWrite && <CheckButton check={check} isDirty={isDirty} />}
        {canWrite && (
          <Button kind="primary" onClick={save} working={isSaving} disabled={!isDirty || parsed.document === undefined}>
            Save draft
          </Button>
        )}
      </div>
    </div>
  );
};
