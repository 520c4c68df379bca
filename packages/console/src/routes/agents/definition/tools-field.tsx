import { useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { type FormPart, valueAt } from "./form-field.tsx";
import { ToolDialog } from "./tool-dialog.tsx";
import type { Tool } from "./tool-text.ts";

interface ToolRowProps {
  readonly tool: Tool;
  readonly problems: readonly string[];
  readonly readOnly: boolean;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}

const ToolRow = ({ tool, problems, readOnly, onEdit, onRemove }: ToolRowProps) => (
  <li className="flex min-h-8 flex-wrap items-center gap-x-3 border-line border-b text-table">
    <Icon name="tool" className="size-4 text-muted" />
    <OutsideText text={String(tool.name ?? "")} className="font-medium" />
    <span className="text-muted text-small">{tool.type === "mcp" ? "MCP server" : `HTTP ${tool.method ?? ""}`}</span>
    <OutsideText text={String(tool.url ?? "")} className="min-w-0 flex-1 truncate font-mono text-muted text-small" />
    {!readOnly && (
      <span className="flex">
        <Button kind="quiet" className="px-2" onClick={onEdit} aria-label={`Edit tool ${tool.name}`}>
          Edit
        </Button>
        <Button kind="quiet" className="px-2" onClick={onRemove} aria-label={`Remove tool ${tool.name}`}>
          Remove
        </Button>
      </span>
    )}
    {problems.map((problem) => (
      <span key={problem} className="w-full pb-1 text-danger text-small">
        {problem}
      </span>
    ))}
  </li>
);

const problemsOfTool = (problems: ReadonlyMap<string, string>, index: number): string[] =>
  [...problems]
    .filter(([field]) => field === `tools.${index}` || field.startsWith(`tools.${index}.`))
    .map(([field, problem]) => `${field.split(".").slice(2).join(".")} ${problem}`.trim());

/** The tools, one line each; a dialog edits one of them. */
export function ToolsField({ definition, readOnly }: FormPart & { readonly readOnly: boolean }) {
  const [open, setOpen] = useState<number>();
  const value = valueAt(definition, ["tools"]);
  const tools = Array.isArray(value) ? (value as Tool[]) : [];
  const set = (changed: Tool[]) => definition.setField(["tools"], changed);
  const own = definition.problems.get("tools");
  return (
    <>
      {tools.length > 0 && (
        <ul className="border-line border-t">
          {tools.map((tool, index) => (
            <ToolRow
              key={index}
              tool={tool}
              problems={problemsOfTool(definition.problems, index)}
              readOnly={readOnly}
              onEdit={() => setOpen(index)}
              onRemove={() => set(tools.toSpliced(index, 1))}
            />
          ))}
        </ul>
      )}
      {tools.length === 0 && <p className="text-muted text-table">No tools: the agent can only talk.</p>}
      {own !== undefined && <p className="text-danger text-small">{own}</p>}
      {!readOnly && (
        <div>
          <Button onClick={() => setOpen(tools.length)}>
            <Icon name="plus" /> Add tool
          </Button>
        </div>
      )}
      {open !== undefined && (
        <ToolDialog
          tool={tools[open]}
          onClose={() => setOpen(undefined)}
          onSave={(tool) => {
            set(open < tools.length ? tools.with(open, tool) : [...tools, tool]);
            setOpen(undefined);
          }}
        />
      )}
    </>
  );
}
