/** How many letters must be changed, added, removed or swapped with their neighbour. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? 0;
  for (let row = 1; row <= a.length; row++) {
    rows.push([row]);
    for (let column = 1; column <= b.length; column++) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swapped = isSwap ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY;
      const others = [at(row - 1, column) + 1, at(row, column - 1) + 1, at(row - 1, column - 1) + cost, swapped];
      rows[row]?.push(Math.min(...others));
    }
  }
  return at(a.length, b.length);
}

/** Longer words are compared by their beginning: names and options are shorter, and the time grows with the square. */
const maxCompared = 64;

/** The word that was probably meant: at most one letter in three differs. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const typed = word.toLowerCase().slice(0, maxCompared);
  const limit = Math.max(1, Math.floor(typed.length / 3));
  const [best] = candidates
    .map((candidate) => ({ candidate, distance: editDistance(typed, candidate.toLowerCase().slice(0, maxCompared)) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance);
  return best?.candidate;
}

/** ` Did you mean error?`, to follow a sentence; empty if nothing is near. */
export function didYouMean(
  word: string,
  candidates: readonly string[],
  toText: (found: string) => string = (found) => found,
): string {
  const found = nearest(word, candidates);
  return found === undefined ? "" : ` Did you mean ${toText(found)}?`;
}
