const maxLineLength = 76;

interface Notation {
  readonly key: (name: string) => string;
  readonly atom: (value: unknown) => string;
  readonly spaced: boolean;
}

export const typescript: Notation = {
  key: (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)),
  atom: (value) => JSON.stringify(value),
  spaced: true,
};

const pythonNames = new Map<unknown, string>([
  [true, "True"],
  [false, "False"],
  [null, "None"],
]);
export const python: Notation = {
  key: (name) => JSON.stringify(name),
  atom: (value) => pythonNames.get(value) ?? JSON.stringify(value),
  spaced: false,
};

/** A value as source text: on one line if it fits after `column` characters, or else one line for each part. */
export function literal(value: unknown, notation: Notation, indent = "", column = 0): string {
  if (typeof value !== "object" || value === null) return notation.atom(value);
  const inner = `${indent}${notation === python ? "    " : "  "}`;
  const isList = Array.isArray(value);
  const parts = (lead: string): string[] =>
    isList
      ? value.map((item) => literal(item, notation, lead))
      : Object.entries(value).map(([name, item]) => {
          const key = `${notation.key(name)}: `;
          return key + literal(item, notation, lead, lead.length + key.length);
        });
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  const space = isList || !notation.spaced || parts("").length === 0 ? "" : " ";
  const line = `${open}${space}${parts("").join(", ")}${space}${close}`;
  if (!line.includes("\n") && column + line.length <= maxLineLength) return line;
  return `${open}\n${parts(inner)
    .map((part) => `${inner}${part},\n`)
    .join("")}${indent}${close}`;
}

/** A call with its arguments on one line, or on a line each. The last may have lines of its own: `update("support-bot", {` */
export function call(callee: string, args: readonly string[], indent = "  "): string {
  const together = `${callee}(${args.join(", ")})`;
  const [firstLine = "", ...others] = together.split("\n");
  const onlyLastHasLines = args.slice(0, -1).every((arg) => !arg.includes("\n"));
  const fits = firstLine.length <= maxLineLength && onlyLastHasLines;
  if (fits && (others.length === 0 || /(^|, |\()[[{]$/.test(firstLine))) return together;
  return `${callee}(\n${args.map((arg) => `${indent}${arg.replaceAll("\n", `\n${indent}`)},\n`).join("")})`;
}
