const minBlockLength = 2000;
const maxBlockLength = 16_000;

/** The end of the next block: after a line break, or after a space if a line is very long. */
function endOfBlock(text: string, start: number): number | undefined {
  const lineEnd = text.indexOf("\n", start + minBlockLength);
  if (lineEnd >= 0 && lineEnd - start <= maxBlockLength) return lineEnd + 1;
  if (text.length - start <= maxBlockLength) return undefined;
  const space = text.lastIndexOf(" ", start + maxBlockLength);
  if (space > start) return space + 1;
  const end = start + maxBlockLength;
  // Does not split a surrogate pair.
  return /[\uD800-\uDBFF]/.test(text[end - 1] ?? "") ? end - 1 : end;
}

/**
 * A text in blocks that do not change while more is appended, so that the browser lays out only the last of them. A line break between two
 * blocks is left out, because each is a paragraph.
 */
export function blocksOf(text: string): string[] {
  const blocks: string[] = [];
  let start = 0;
  for (let end = endOfBlock(text, 0); end !== undefined; end = endOfBlock(text, start)) {
    blocks.push(text.slice(start, text[end - 1] === "\n" ? end - 1 : end));
    start = end;
  }
  return [...blocks, text.slice(start)];
}
