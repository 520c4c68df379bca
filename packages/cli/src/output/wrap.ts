const lengthOf = (text: string): number => text.length;

/**
 * Breaks a line between its words. A word is never broken: a word that is longer than the width gets a line of its own.
 * Continuation lines are indented as the line is, or as far as the second column if the line is a row such as `  name
 * text`.
 */
function wrapLine(line: string, width: number, widthOf: (text: string) => number, hanging?: number): string {
  const begin = /^\s+\S+\s{2,}/.exec(line)?.[0] ?? /^\s*/.exec(line)?.[0] ?? "";
  const indent = " ".repeat(hanging ?? widthOf(begin));
  const lines: string[] = [];
  let current = begin;
  let isEmpty = true;
  for (const word of line.slice(begin.length).split(" ")) {
    if (!isEmpty && widthOf(current) + 1 + widthOf(word) > width) {
      lines.push(current.trimEnd());
      current = indent;
      isEmpty = true;
    }
    current += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, current].join("\n");
}

/** `hanging`: how far the lines that follow are indented, whatever the first is. */
export const wrapText = (text: string, width: number, widthOf = lengthOf, hanging?: number): string =>
  text
    .split("\n")
    .map((line) => (widthOf(line) <= width ? line : wrapLine(line, width, widthOf, hanging)))
    .join("\n");
