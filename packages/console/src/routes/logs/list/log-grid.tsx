import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type MouseEvent, type ReactNode, type RefObject, useLayoutEffect, useRef } from "react";
import { useSlowClock } from "../../../parts/ago.tsx";
import { classNames } from "../../../parts/class-names.ts";
import { useElementWidth } from "../../../parts/use-element-width.ts";
import type { LogLines } from "../tail/log-lines.ts";
import { columnsFor, idOfLine, type LogColumns, LogRow, rowClass, rowHeight } from "./log-row.tsx";

const titles = (columns: LogColumns): readonly string[] => [
  "Time",
  "Level",
  "Message",
  ...(columns.hasRun ? ["Run"] : []),
];

const HeaderRow = ({ columns }: { readonly columns: LogColumns }) => (
  <thead className="sticky top-0 z-10 block bg-page shadow-[inset_0_-1px_0_var(--line)]">
    <tr aria-rowindex={1} className={rowClass} style={{ gridTemplateColumns: columns.template }}>
      {titles(columns).map((title) => (
        <th key={title} scope="col" className="truncate text-left font-normal font-sans text-muted text-small">
          <span className={classNames(title === "Level" && !columns.hasLevelWord && "sr-only")}>{title}</span>
        </th>
      ))}
    </tr>
  </thead>
);

interface LogGridProps {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly lines: LogLines;
  /** Changes with the lines. */
  readonly version: number;
  /** The newest line stays in sight. */
  readonly sticksToEnd: boolean;
  readonly isLoading: boolean;
  /** There is nothing to show, and something else says so. */
  readonly isHidden: boolean;
  /** The line that the keyboard is at; undefined until it moves. */
  readonly active: number | undefined;
  readonly openId: string | undefined;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly onClick: (event: MouseEvent) => void;
  /** Somebody scrolls back. */
  readonly onLookBack: () => void;
  /** Above the first line. */
  readonly above: ReactNode;
}

/** The lines that are seen, newest at the bottom as in a terminal. */
export function LogGrid(props: LogGridProps) {
  const { scroller, lines, version, active, openId } = props;
  const today = useSlowClock();
  const width = useElementWidth(scroller);
  const columns = columnsFor(width);
  const count = lines.count();
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollMargin: rowHeight,
    scrollPaddingStart: rowHeight,
  });
  useKeepPlace(props, version);
  useLayoutEffect(() => {
    if (active !== undefined && active < count) virtual.scrollToIndex(active, { align: "auto" });
  }, [active, virtual]);
  const items = virtual.getVirtualItems();
  const isActiveShown = items.some(({ index }) => index === active);
  return (
    <div
      ref={scroller}
      className={classNames("min-h-0 flex-1 overflow-auto [overflow-anchor:none]", props.isHidden && "hidden")}
      onWheel={({ deltaY }) => deltaY < 0 && props.onLookBack()}
      onTouchMove={props.onLookBack}
      onPointerDown={({ target }) => target === scroller.current && props.onLookBack()}
    >
      {props.above}
      <table
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: arrows move through its rows, as in a grid.
        role="grid"
        aria-label="Log lines"
        aria-rowcount={count + 1}
        aria-busy={props.isLoading}
        tabIndex={0}
        {...(isActiveShown && active !== undefined && { "aria-activedescendant": idOfLine(active) })}
        onKeyDown={props.onKeyDown}
        onClick={props.onClick}
        className="group block outline-none"
      >
        <HeaderRow columns={columns} />
        <tbody className="relative block" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const line = lines.at(index);
            return (
              line && (
                <LogRow
                  key={line.id}
                  line={line}
                  index={index}
                  top={start - rowHeight}
                  columns={columns}
                  today={today}
                  isActive={index === active}
                  isOpen={line.id === openId}
                />
              )
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** At the end while it sticks there; else the lines that are read stay where they are when older ones come above them. */
function useKeepPlace({ scroller, lines, sticksToEnd }: LogGridProps, version: number): void {
  const before = useRef({ firstId: undefined as string | undefined, count: 0 });
  // The lines change in place, and their version with them.
  useLayoutEffect(() => {
    const box = scroller.current;
    const count = lines.count();
    const firstId = lines.at(0)?.id;
    if (box && (sticksToEnd || before.current.count === 0)) box.scrollTop = box.scrollHeight;
    else if (box && firstId !== before.current.firstId) box.scrollTop += (count - before.current.count) * rowHeight;
    before.current = { firstId, count };
  }, [version, sticksToEnd, lines, scroller]);
}
