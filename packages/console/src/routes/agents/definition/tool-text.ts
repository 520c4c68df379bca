/** A tool as it is in the document, including fields that the dialog does not know. */
export interface Tool {
  readonly type?: string;
  readonly name?: string;
  readonly url?: string;
  readonly method?: string;
  readonly description?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly parameters?: unknown;
}

const known = ["type", "name", "url", "method", "description", "headers", "query", "parameters"];

/** Fields that the dialog does not show, such as `approval`, stay with the tool unless its type changes. */
export const unknownFields = (tool: Tool | undefined, type: string): object =>
  tool?.type === type ? Object.fromEntries(Object.entries(tool).filter(([name]) => !known.includes(name))) : {};

/** One `Name: value` on each line. */
export const pairsText = (pairs: Readonly<Record<string, string>> | undefined): string =>
  Object.entries(pairs ?? {})
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");

export function parsePairs(text: string): Record<string, string> | undefined {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) return undefined;
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return colon < 0 ? [line.trim(), ""] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );
}
