import type { TextProblem } from "./agent-document.ts";

export interface YamlProblem extends TextProblem {
  /** Absent if the text is not YAML. */
  readonly field?: string;
}

/** `At most 2` follows a colon; a name such as `YAML` stays as it is. */
const afterColon = (message: string): string => message.replace(/^[A-Z](?=[a-z ])/, (first) => first.toLowerCase());

const lineOf = (text: string, position: number): number => text.slice(0, position).split("\n").length;

/** The first problem with its line and field, and the number of problems; without any, a hint about the editor. */
export function problemSentence(text: string, problems: readonly YamlProblem[]): string {
  const [first] = [...problems].sort((a, b) => a.from - b.from);
  if (!first) return "Ctrl Space completes.";
  const place = `Line ${lineOf(text, first.from)}${first.field ? `, ${first.field}` : ""}`;
  const count = problems.length === 1 ? "" : `${problems.length} problems. `;
  return `${count}${place}: ${afterColon(first.message).replace(/\.$/, "")}.`;
}
