/** How many rows stand above all that were seen. If none of those is left, there is no place to keep, and nothing counts as new. */
export const countNewRows = (ids: readonly string[], seen: ReadonlySet<string>): number =>
  Math.max(
    0,
    ids.findIndex((id) => seen.has(id)),
  );

/** The first row of each id. Where new ones push the others down, the next page begins with some that the one before has. */
export function withoutRepeats<T>(rows: readonly T[], idOf: (row: T) => string): readonly T[] {
  const seen = new Set<string>();
  return rows.filter((row) => {
    const isNew = !seen.has(idOf(row));
    seen.add(idOf(row));
    return isNew;
  });
}
