export interface DiffLine {
  readonly kind: "removed" | "added" | "same";
  readonly text: string;
}

/** Lines around a change that are shown with it. */
const context = 2;
/** Longer texts are compared as a whole, because the table of the comparison grows with the product of both lengths. */
const maxLines = 1000;

const linesOf = (text: string | undefined): string[] => (text === undefined ? [] : text.split("\n"));

/** The lengths of the longest common subsequences of all pairs of suffixes. */
function commonLengths(a: readonly string[], b: readonly string[]): number[][] {
  const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--) {
      const row = table[i] as number[];
      const next = table[i + 1] as number[];
      row[j] = a[i] === b[j] ? (next[j + 1] as number) + 1 : Math.max(next[j] as number, row[j + 1] as number);
    }
  return table;
}

function compare(a: readonly string[], b: readonly string[]): DiffLine[] {
  const table = commonLengths(a, b);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: "same", text: a[i++] as string });
      j++;
    } else if (j >= b.length || (i < a.length && (table[i + 1]?.[j] ?? 0) >= (table[i]?.[j + 1] ?? 0)))
      lines.push({ kind: "removed", text: a[i++] as string });
    else lines.push({ kind: "added", text: b[j++] as string });
  }
  return lines;
}

/** The lines of a text before and after a change, without those far from any difference. */
export function changedLines(from: string | undefined, to: string | undefined): DiffLine[] {
  const [before, after] = [linesOf(from), linesOf(to)];
  if (before.length > maxLines || after.length > maxLines)
    return [
      ...before.map((text): DiffLine => ({ kind: "removed", text })),
      ...after.map((text): DiffLine => ({ kind: "added", text })),
    ];
  const lines = compare(before, after);
  const isNear = (index: number) =>
    lines.slice(Math.max(0, index - context), index + context + 1).some(({ kind }) => kind !== "same");
  return lines.flatMap((line, index) => {
    if (isNear(index)) return [line];
    const isFirstFar = index === 0 || isNear(index - 1);
    return isFirstFar ? [{ kind: "same", text: "…" }] : [];
  });
}
