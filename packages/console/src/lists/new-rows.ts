/** How many rows stand above all that were seen. If none of those is left, there is no place to keep, and nothing counts as new. */
export const countNewRows = (ids: readonly string[], seen: ReadonlySet<string>): number =>
  Math.max(
    0,
    ids.findIndex((id) => seen.has(id)),
  );
