import { type Range, useVirtualizer, type VirtualItem } from "@tanstack/react-virtual";
import { type KeyboardEvent, type MouseEvent, type ReactNode, type RefObject, useEffect, useMemo } from "react";
import { useSlowClock } from "../../../parts/ago.tsx";
import { classNames } from "../../../parts/class-names.ts";
import { useElementWidth } from "../../../parts/use-element-width.ts";
import { type Column, columnsFor, templateOf } from "./columns.tsx";
import { idOfRow, RunRow, rowClass, rowHeight } from "./run-row.tsx";
import type { RunPages } from "./use-run-pages.ts";

const HeaderRow = ({ columns, template }: { readonly columns: readonly Column[]; readonly template: string }) => (
  <thead className="sticky top-0 z-10 block bg-page">
    <tr aria-rowindex={1} className={rowClass} style={{ gridTemplateColumns: template }}>
      {columns.map(({ id, title, kind }) => (
        <th
          key={id}
          scope="col"
          className={classNames(
            "truncate font-normal text-muted text-small",
            kind === "number" ? "text-right" : "text-left",
          )}
        >
          {id === "mark" ? <span className="sr-only">{title}</span> : title}
        </th>
      ))}
    </tr>
  </thead>
);

const rangeStep = 25;
const rowsAround = 12;

/**
 * Always the same number of rows, so that one that comes into sight takes over the elements of one that has left: making new elements
 * costs most of a frame.
 */
function extractRows({ startIndex, count }: Range, height: number): number[] {
  const length = Math.min(count, Math.ceil(height / rowHeight) + 1 + 2 * rowsAround);
  const first = Math.max(0, Math.min(startIndex - rowsAround, count - length));
  return Array.from({ length }, (_, index) => first + index);
}

/**
 * While the list scrolls, elements keep their order in the page, whichever rows they show: moving them costs as much as new ones. Afterwards
 * they have the order of the rows, for readers of the screen.
 */
const inDrawingOrder = (items: readonly VirtualItem[], isScrolling: boolean): readonly VirtualItem[] =>
  isScrolling ? items.toSorted((a, b) => (a.index % items.length) - (b.index % items.length)) : items;

export interface RunGridProps {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly pages: RunPages;
  /** The row that the keyboard is at. */
  readonly active: number;
  /** The id of the run that is open beside the list. */
  readonly openId: string | undefined;
  readonly hrefOf: (row: number) => string;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly onClick: (event: MouseEvent) => void;
  readonly onRange: (first: number, last: number) => void;
  /** Below the last row. */
  readonly footer: ReactNode;
}

/** The rows that are seen, of a list that is as long as it is. One listener for all of them. */
export function RunGrid(props: RunGridProps) {
  const { scroller, pages, active, openId, onRange } = props;
  const now = useSlowClock();
  const width = useElementWidth(scroller);
  const columns = useMemo(() => columnsFor(width), [width]);
  const template = templateOf(columns);
  const virtual = useVirtualizer({
    count: pages.count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    // The row of titles stays above the first that is seen.
    scrollMargin: rowHeight,
    scrollPaddingStart: rowHeight,
    isScrollingResetDelay: 500,
    rangeExtractor: (range) => extractRows(range, scroller.current?.clientHeight ?? 0),
  });
  const items = virtual.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  // In steps, so that not every frame of scrolling asks which pages are needed.
  const [from, to] = [Math.floor(first / rangeStep) * rangeStep, Math.ceil(last / rangeStep) * rangeStep];
  useEffect(() => onRange(from, to), [onRange, from, to]);
  useEffect(() => {
    if (active >= 0 && active < pages.count) virtual.scrollToIndex(active, { align: "auto" });
  }, [active, virtual, pages.count === 0]);
  const isActiveShown = active >= first && active <= last && pages.count > 0;
  return (
    <div ref={scroller} className="min-h-0 flex-1 overflow-auto text-table [overflow-anchor:none]">
      <table
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: arrows move through its rows, as in a grid.
        role="grid"
        aria-label="Runs"
        aria-rowcount={-1}
        aria-busy={pages.isLoading}
        tabIndex={0}
        {...(isActiveShown && { "aria-activedescendant": idOfRow(active) })}
        onKeyDown={props.onKeyDown}
        onClick={props.onClick}
        className="group block outline-none"
      >
        <HeaderRow columns={columns} template={template} />
        <tbody className="relative block" style={{ height: virtual.getTotalSize() }}>
          {inDrawingOrder(items, virtual.isScrolling).map(({ index, start }) => {
            const run = pages.rowAt(index);
            return (
              <RunRow
                key={index % items.length}
                run={run}
                index={index}
                top={start - rowHeight}
                href={props.hrefOf(index)}
                columns={columns}
                template={template}
                now={now}
                isActive={index === active}
                isOpen={run !== undefined && run.request_id === openId}
              />
            );
          })}
        </tbody>
      </table>
      {props.footer}
    </div>
  );
}
