import { useVirtualizer } from "@tanstack/react-virtual";
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
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  // A row that comes into sight takes over the elements of one that has left: making new ones costs most of a frame.
  const pool = 2 ** Math.ceil(Math.log2(Math.max(64, items.length)));
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
          {items.map(({ index, start }) => {
            const run = pages.rowAt(index);
            return (
              <RunRow
                key={index % pool}
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
