/** A fenced block of commands, with the answer that the page prints below it, if it does. */
export interface CommandBlock {
  readonly commands: string;
  readonly answer: unknown;
}

/** The `sh` blocks of a page in order; a `json` block right after one is its answer. */
export function commandBlocks(markdown: string): CommandBlock[] {
  const fences = [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = "", text = ""]) => ({
    language,
    text,
  }));
  return fences.flatMap(({ language, text }, index) => {
    if (language !== "sh") return [];
    const next = fences[index + 1];
    return [{ commands: text, answer: next?.language === "json" ? JSON.parse(next.text) : undefined }];
  });
}

const placeholder = [
  [/^(agent|org|key|req|dep|mem|clr|wh|dlv|evt)_[0-9a-hjkmnp-tv-z]{26}$/, "$1 id"],
  [/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, "time"],
] as const;

/** The same value with what differs from run to run (ids and times) named, so that two answers can be compared. */
export function withoutVariables(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutVariables);
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutVariables(inner)]));
  }
  if (typeof value !== "string") return value;
  return placeholder.reduce((text, [pattern, name]) => text.replace(pattern, name), value);
}
