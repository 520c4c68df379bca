import type { Agent } from "@perch/sdk";
import { type Document, isNode, parseDocument, stringify } from "yaml";

/** An agent's definition as one document. The form and the editor show the same text, so nothing is lost between them. */
export type AgentDocument = Readonly<Record<string, unknown>>;

export type Path = readonly (string | number)[];

export interface TextProblem {
  readonly from: number;
  readonly to: number;
  readonly message: string;
}

const fields = [
  "model",
  "fallback_models",
  "temperature",
  "instructions",
  "tools",
  "memory",
  "limits",
  "logs",
  "runtime",
  "approvals",
  "security",
] as const satisfies (keyof Agent)[];

/** Leaves out `auth`, because the server never returns its secrets and it could not be saved again. */
export const documentOf = (agent: Agent): AgentDocument =>
  Object.fromEntries(fields.flatMap((field) => (agent[field] === undefined ? [] : [[field, agent[field]]])));

export const textOf = (document: AgentDocument): string => stringify(document, { lineWidth: 0, blockQuote: "literal" });

export interface ParsedText {
  readonly yaml: Document;
  /** Undefined if the text is not YAML, or not an object. */
  readonly document: AgentDocument | undefined;
  readonly problems: readonly TextProblem[];
}

export function parseText(text: string): ParsedText {
  const yaml = parseDocument(text, { prettyErrors: false });
  const problems = yaml.errors.map(({ pos: [from, to], message }) => ({ from, to: Math.max(to, from + 1), message }));
  if (problems.length > 0) return { yaml, document: undefined, problems };
  const value: unknown = yaml.toJS() ?? {};
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return { yaml, document: value as AgentDocument, problems };
  return {
    yaml,
    document: undefined,
    problems: [{ from: 0, to: text.length, message: "Expected fields, such as model: perch/echo" }],
  };
}

/** Sets one field and leaves the rest of the text as it was written. */
export function withField(text: string, path: Path, value: unknown): string {
  const { yaml } = parseText(text);
  if (value === undefined) yaml.deleteIn(path);
  else yaml.setIn(path, yaml.createNode(value));
  return yaml.toString({ lineWidth: 0, blockQuote: "literal" });
}

/** The position of a field in the text, or of the nearest field around it. */
export function rangeOf(yaml: Document, path: Path): { readonly from: number; readonly to: number } {
  for (let length = path.length; length > 0; length--) {
    const node = yaml.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return { from: node.range[0], to: Math.max(node.range[1], node.range[0] + 1) };
  }
  return { from: 0, to: 1 };
}
