const moves: Readonly<Record<string, (row: number, last: number, page: number) => number>> = {
  ArrowDown: (row) => row + 1,
  ArrowUp: (row) => row - 1,
  PageDown: (row, _, page) => row + page,
  PageUp: (row, _, page) => row - page,
  Home: () => 0,
  End: (_, last) => last,
};

interface Rows {
  readonly active: number;
  readonly count: number;
  readonly rowHeight: number;
  readonly scroller: HTMLElement | null;
}

/** The row that a key leads to, in a list that shows only the rows in sight. Undefined: the key moves nothing. */
export function rowAfterKey(key: string, { active, count, rowHeight, scroller }: Rows): number | undefined {
  const page = Math.max(1, Math.floor((scroller?.clientHeight ?? 0) / rowHeight) - 2);
  const moved = moves[key]?.(active, count - 1, page);
  return moved === undefined ? undefined : Math.max(0, Math.min(moved, count - 1));
}
