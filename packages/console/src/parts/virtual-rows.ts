import { type Range, useVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect } from "react";

const rowsAround = 12;

interface VirtualRowsOptions {
  readonly scroller: RefObject<HTMLElement | null>;
  readonly count: number;
  readonly rowHeight: number;
  /** The height of the sticky content above the first row. 0 if the table's own layout has room for it. */
  readonly headHeight?: number;
  /**
   * Always the same number of rows, so that a row that comes into sight reuses the elements of one that has left: creating elements costs
   * most of a frame.
   */
  readonly isRecycling?: boolean;
}

function extractRows({ startIndex, count }: Range, heightInRows: number): number[] {
  const length = Math.min(count, Math.ceil(heightInRows) + 1 + 2 * rowsAround);
  const first = Math.max(0, Math.min(startIndex - rowsAround, count - length));
  return Array.from({ length }, (_, index) => first + index);
}

/** The rows of a long list that are in the DOM: the visible ones and a few around them. */
export function useVirtualRows({
  scroller,
  count,
  rowHeight,
  headHeight = 0,
  isRecycling = false,
}: VirtualRowsOptions) {
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: rowsAround,
    scrollMargin: headHeight,
    scrollPaddingStart: headHeight,
    ...(isRecycling && {
      isScrollingResetDelay: 500,
      rangeExtractor: (range: Range) => extractRows(range, (scroller.current?.clientHeight ?? 0) / rowHeight),
    }),
  });
  useEffect(() => virtual.measure(), [virtual, rowHeight]);
  const items = virtual.getVirtualItems();
  return { virtual, items, first: items[0]?.index ?? 0, last: items.at(-1)?.index ?? 0 };
}
