import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type ListedRun, type RunListing, type RunPage, runPageQuery } from "../../../api/run-list-queries.ts";
import { emptyChain, extendChain, isComplete, isFull, pageOf, rowCount } from "./page-chain.ts";

/** The next page is fetched this many rows before the end. */
const rowsAhead = 150;
/** After this many nearly empty pages, the user decides whether to search further. */
const thinPagesAtOnce = 5;

export interface RunPages {
  readonly count: number;
  readonly rowAt: (index: number) => ListedRun | undefined;
  /** There are no older runs. */
  readonly isComplete: boolean;
  readonly isFull: boolean;
  /** Many runs were searched and few found: `goOn` searches further. */
  readonly isPaused: boolean;
  readonly goOn: () => void;
  readonly isLoading: boolean;
  readonly error: unknown;
  readonly retry: () => void;
}

const range = (first: number, last: number): number[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);

/** The pages with the visible rows, and the first page, with which new runs are compared. */
export function useRunPages(listing: RunListing, firstRow: number, lastRow: number): RunPages {
  const client = useQueryClient();
  const [chain, setChain] = useState(emptyChain);
  const [maxThinPages, setMaxThinPages] = useState(thinPagesAtOnce);
  const isPaused = chain.thinPages >= maxThinPages && !isComplete(chain);
  const count = rowCount(chain);
  const wantsMore = !isPaused && !isComplete(chain) && !isFull(chain) && lastRow + rowsAhead >= count;
  const last = wantsMore ? chain.cursors.length - 1 : pageOf(chain, lastRow);
  const indexes = [...new Set([0, ...range(pageOf(chain, firstRow), last)])];
  const queries = useQueries({
    queries: indexes.map((index) => runPageQuery(client, listing, chain.cursors[index])),
  });
  const pages = new Map(indexes.map((index, at) => [index, queries[at]?.data]));
  const nextIndex = chain.starts.length - 1;
  const next = pages.get(nextIndex);
  useEffect(() => {
    if (next) setChain((before) => extendChain(before, nextIndex, next.rows.length, next.nextCursor));
  }, [next, nextIndex]);
  const failed = queries.find(({ isError }) => isError);
  return {
    count,
    rowAt: (index) => rowOf(pages, chain.starts, pageOf(chain, index), index),
    isComplete: isComplete(chain),
    isFull: isFull(chain),
    isPaused,
    goOn: () => setMaxThinPages(chain.thinPages + thinPagesAtOnce),
    isLoading: queries.some(({ isPending }) => isPending),
    error: failed?.error,
    retry: () => void failed?.refetch(),
  };
}

const rowOf = (
  pages: ReadonlyMap<number, RunPage | undefined>,
  starts: readonly number[],
  page: number,
  row: number,
): ListedRun | undefined => pages.get(page)?.rows[row - (starts[page] ?? 0)];
