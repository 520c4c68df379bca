/** The number of rows above the first row that was seen. If no seen row is left, nothing counts as new. */
export const countNewRows = (ids: readonly string[], seen: ReadonlySet<string>): number =>
  Math.max(
    0,
    ids.findIndex((id) => seen.has(id)),
  );

/** The first row of each id. When new rows push the others down, the next page repeats rows of the page before. */
export function withoutRepeats<T>(rows: readonly T[], idOf: (row: T) => string): readonly T[] {
  const seen = new Set<string>();
  return rows.filter((row) => {
    const isNew = !seen.has(idOf(row));
    seen.add(idOf(row));
    return isNew;
  });
}
