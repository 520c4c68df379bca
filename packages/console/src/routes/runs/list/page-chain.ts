/**
 * The positions of a list's pages. A page is found by the cursor of the page before it, so the chain is known as far as the user has
 * scrolled. It stays when the rows leave the cache, and leads back to them.
 */
export interface PageChain {
  /** The cursor of each page that can be fetched. */
  readonly cursors: readonly (string | undefined)[];
  /** The index of the first row of each page, and last the number of rows of all. */
  readonly starts: readonly number[];
  /** The number of nearly empty pages: a request searches a bounded number of runs, and may find few that match. */
  readonly thinPages: number;
}

export const emptyChain: PageChain = { cursors: [undefined], starts: [0], thinPages: 0 };

const thinPageRows = 10;

/** A browser cannot scroll beyond this: an element may be about 17 million pixels high. */
export const maxRows = 500_000;

export const rowCount = ({ starts }: PageChain): number => starts.at(-1) ?? 0;

/** Whether every page has been fetched once. */
export const isComplete = ({ cursors, starts }: PageChain): boolean => cursors.length < starts.length;

export const isFull = (chain: PageChain): boolean => rowCount(chain) >= maxRows;

/** Adds the page that was fetched last. A known page changes nothing. */
export function extendChain(chain: PageChain, index: number, rows: number, nextCursor: string | null): PageChain {
  if (index !== chain.starts.length - 1) return chain;
  return {
    cursors: nextCursor === null ? chain.cursors : [...chain.cursors, nextCursor],
    starts: [...chain.starts, rowCount(chain) + rows],
    thinPages: chain.thinPages + (rows < thinPageRows ? 1 : 0),
  };
}

/** The page with this row. */
export function pageOf({ starts }: PageChain, row: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= row) low = middle;
    else high = middle - 1;
  }
  // Empty pages begin where the next one does; the row is in the one before the last start.
  return Math.min(low, Math.max(0, starts.length - 2));
}
