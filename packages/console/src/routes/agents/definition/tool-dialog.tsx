import { useState } from "react";
import { Dialog } from "../../../parts/dialog.tsx";
import { DialogForm } from "../../../parts/dialog-form.tsx";
import { DiscardDialog } from "../../../parts/discard-dialog.tsx";
import { Field, Select, TextArea, TextInput } from "../../../parts/field.tsx";
import { isSameJson } from "./patch-of.ts";
import { pairsText, parsePairs, type Tool, unknownFields } from "./tool-text.ts";

interface ToolDialogProps {
  /** Undefined for a new one. */
  readonly tool: Tool | undefined;
  readonly onClose: () => void;
  readonly onSave: (tool: Tool) => void;
}

interface Texts {
  readonly type: string;
  readonly name: string;
  readonly url: string;
  readonly method: string;
  readonly description: string;
  readonly headers: string;
  readonly query: string;
  readonly parameters: string;
}

const emptyParameters = { type: "object", properties: {} };

const textsOf = (tool: Tool | undefined): Texts => ({
  type: tool?.type ?? "http",
  name: tool?.name ?? "",
  url: tool?.url ?? "",
  method: tool?.method ?? "GET",
  description: tool?.description ?? "",
  headers: pairsText(tool?.headers),
  query: pairsText(tool?.query),
  parameters: JSON.stringify(tool?.parameters ?? emptyParameters, undefined, 2),
});

const jsonProblem = (text: string): string | undefined => {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return `Not JSON: ${error instanceof Error ? error.message : "cannot be read"}`;
  }
};

function toolOf(texts: Texts, before: Tool | undefined): Tool {
  const { type, name, url, method, description, headers, query, parameters } = texts;
  const sent = parsePairs(headers);
  if (type === "ask_person") return { ...before, name, description };
  const common = { ...unknownFields(before, type), type, name, url, ...(sent && { headers: sent }) };
  if (type === "mcp") return common;
  const asked = parsePairs(query);
  return { ...common, description, method, ...(asked && { query: asked }), parameters: JSON.parse(parameters) };
}

interface PartProps {
  readonly texts: Texts;
  readonly set: (change: Partial<Texts>) => void;
}

const Common = ({ texts, set }: PartProps) => (
  <>
    <Field label="Type">
      {(ids) => (
        <Select {...ids} value={texts.type} onChange={({ target }) => set({ type: target.value })}>
          <option value="http">HTTP request</option>
          <option value="mcp">MCP server</option>
        </Select>
      )}
    </Field>
    <Field label="Name" hint="1 to 64 letters, digits, underscores and hyphens. The model sees it.">
      {(ids) => (
        <TextInput
          {...ids}
          required
          pattern="[a-zA-Z0-9_\-]{1,64}"
          value={texts.name}
          onChange={({ target }) => set({ name: target.value })}
        />
      )}
    </Field>
    <Field
      label="URL"
      hint={
        texts.type === "mcp"
          ? "The address of the MCP server (Streamable HTTP)."
          : "The address that is called when the model uses the tool."
      }
    >
      {(ids) => (
        <TextInput
          {...ids}
          required
          type="url"
          value={texts.url}
          onChange={({ target }) => set({ url: target.value })}
        />
      )}
    </Field>
    <Field
      label="Headers"
      hint="One on each line, as Name: value. A value may refer to a secret: Bearer {{secret.github_token}}."
    >
      {(ids) => (
        <TextArea
          {...ids}
          rows={2}
          spellCheck={false}
          className="min-h-14 font-mono text-small"
          value={texts.headers}
          onChange={({ target }) => set({ headers: target.value })}
        />
      )}
    </Field>
  </>
);

const HttpOnly = ({ texts, set }: PartProps) => (
  <>
    <Field label="Method">
      {(ids) => (
        <Select {...ids} value={texts.method} onChange={({ target }) => set({ method: target.value })}>
          {["GET", "POST", "PUT", "PATCH", "DELETE"].map((method) => (
            <option key={method}>{method}</option>
          ))}
        </Select>
      )}
    </Field>
    <Field label="Description" hint="When the model should use it, and what it gets back.">
      {(ids) => (
        <TextArea
          {...ids}
          required
          rows={2}
          className="min-h-14"
          value={texts.description}
          onChange={({ target }) => set({ description: target.value })}
        />
      )}
    </Field>
    <Field label="Query parameters" hint="One on each line, as name: value, sent with every call.">
      {(ids) => (
        <TextArea
          {...ids}
          rows={2}
          spellCheck={false}
          className="min-h-14 font-mono text-small"
          value={texts.query}
          onChange={({ target }) => set({ query: target.value })}
        />
      )}
    </Field>
    <Field label="Arguments" hint="A JSON Schema of the model's arguments." problem={jsonProblem(texts.parameters)}>
      {(ids) => (
        <TextArea
          {...ids}
          rows={6}
          spellCheck={false}
          className="font-mono text-small"
          value={texts.parameters}
          onChange={({ target }) => set({ parameters: target.value })}
        />
      )}
    </Field>
  </>
);

export function ToolDialog({ tool, onClose, onSave }: ToolDialogProps) {
  const [texts, setTexts] = useState(() => textsOf(tool));
  const [isAsking, setIsAsking] = useState(false);
  const set = (change: Partial<Texts>) => setTexts((before) => ({ ...before, ...change }));
  const isValid = texts.type === "mcp" || jsonProblem(texts.parameters) === undefined;
  // Escape and a click outside the dialog easily happen by mistake.
  const close = () => (isSameJson(texts, textsOf(tool)) ? onClose() : setIsAsking(true));
  return (
    <Dialog open onClose={close} title={tool ? `Edit tool ${tool.name}` : "Add tool"}>
      <DialogForm
        action={tool ? "Change tool" : "Add tool"}
        canSubmit={isValid}
        onSubmit={() => onSave(toolOf(texts, tool))}
        onCancel={close}
      >
        <Common texts={texts} set={set} />
        {texts.type !== "mcp" && texts.type !== "ask_person" && <HttpOnly texts={texts} set={set} />}
      </DialogForm>
      <DiscardDialog
        open={isAsking}
        title={tool ? "Discard the changes to this tool" : "Discard this tool"}
        description="Your changes are not in the definition yet."
        keep="Go on editing"
        onKeep={() => setIsAsking(false)}
        discard="Discard my changes"
        onDiscard={onClose}
      />
    </Dialog>
  );
}
