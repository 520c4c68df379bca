import type { VirtualItem } from "@tanstack/react-virtual";
import {
  type ComponentProps,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
} from "react";
import { classNames } from "./class-names.ts";
import type { TableColumn } from "./table.tsx";
import { useVirtualRows } from "./virtual-rows.ts";

const rangeStep = 25;

const moves: Readonly<Record<string, (row: number, last: number, page: number) => number>> = {
  ArrowDown: (row) => row + 1,
  ArrowUp: (row) => row - 1,
  PageDown: (row, _, page) => row + page,
  PageUp: (row, _, page) => row - page,
  Home: () => 0,
  End: (_, last) => last,
};

const idOfRow = (index: number): string => `row-${index}`;

export interface GridRow {
  readonly index: number;
  readonly top: number;
  readonly isActive: boolean;
}

interface GridRowLook extends GridRow {
  readonly template: string;
  readonly isOpen: boolean;
  readonly className: string;
}

/** The attributes of a row besides its cells. It has no listeners of its own, because many rows pass in a second. */
export const gridRowProps = ({ index, top, template, isActive, isOpen, className }: GridRowLook) => ({
  id: idOfRow(index),
  "data-index": index,
  "aria-rowindex": index + 2,
  "aria-selected": isOpen,
  className: classNames(
    className,
    "absolute inset-x-0 cursor-pointer [contain:strict]",
    isOpen ? "bg-accent-soft" : "hover:bg-sunken",
    isActive && "outline-offset-[-2px] outline-accent group-focus-visible:outline-2",
  ),
  style: { transform: `translateY(${top}px)`, gridTemplateColumns: template },
});

export const focusGrid = (scroller: HTMLElement | null) =>
  scroller?.querySelector<HTMLElement>("[role=grid]")?.focus({ preventScroll: true });

/** Puts the focus into the grid when this becomes true. */
export function useFocusGrid(scroller: RefObject<HTMLElement | null>, isWanted: boolean): void {
  const before = useRef(isWanted);
  useEffect(() => {
    if (isWanted && !before.current) focusGrid(scroller.current);
    before.current = isWanted;
  }, [scroller, isWanted]);
}

/**
 * While the list scrolls, elements stay in their DOM order whichever rows they show, because moving them costs as much as new ones.
 * Afterwards they get the order of the rows, for screen readers.
 */
const inDrawingOrder = (items: readonly VirtualItem[]): readonly VirtualItem[] =>
  items.toSorted((a, b) => (a.index % items.length) - (b.index % items.length));

interface VirtualGridProps {
  readonly label: string;
  /** The element around the table, with its own listeners and classes. */
  readonly box?: Omit<ComponentProps<"div">, "children">;
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly count: number;
  /** More rows may be below. */
  readonly isOpenEnded?: boolean;
  readonly isBusy: boolean;
  readonly columns: readonly TableColumn[];
  /** As in `grid-template-columns`. */
  readonly template: string;
  readonly rowClass: string;
  readonly rowHeight: number;
  /** The row with the keyboard's cursor. Undefined makes the arrows begin at the end. */
  readonly active: number | undefined;
  /** Draws a row, with the key of an element that it can reuse or with a new one. */
  readonly children: (row: GridRow, recycledKey: number) => ReactNode;
  readonly isRecycling?: boolean;
  readonly onMove: (row: number) => void;
  readonly onEnter: (row: number) => void;
  readonly onRowClick: (row: number, event: MouseEvent) => void;
  /** Called in steps, so that not every frame of scrolling asks for rows. */
  readonly onRange?: (first: number, last: number) => void;
  readonly above?: ReactNode;
  readonly below?: ReactNode;
}

/** A long list that draws only the visible rows, under sticky titles. One listener serves all rows. */
export function VirtualGrid({
  scroller,
  count,
  active,
  rowHeight,
  isRecycling = false,
  onRange,
  ...props
}: VirtualGridProps) {
  const rows = { scroller, count, rowHeight, headHeight: rowHeight, isRecycling };
  const { virtual, items, first, last } = useVirtualRows(rows);
  const [from, to] = [Math.floor(first / rangeStep) * rangeStep, Math.ceil(last / rangeStep) * rangeStep];
  useEffect(() => onRange?.(from, to), [onRange, from, to]);
  useLayoutEffect(() => {
    if (active !== undefined && active < count) virtual.scrollToIndex(active, { align: "auto" });
  }, [active, virtual, count === 0]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") return props.onEnter(active ?? count - 1);
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 2);
    const row = moves[event.key]?.(active ?? count, count - 1, page);
    if (row === undefined || event.metaKey || event.ctrlKey || event.altKey) return;
    event.preventDefault();
    props.onMove(Math.max(0, Math.min(row, count - 1)));
  };
  const onClick = (event: MouseEvent) => {
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-index]") : null;
    if (row) props.onRowClick(Number(row.dataset.index), event);
  };
  const drawn = isRecycling && virtual.isScrolling ? inDrawingOrder(items) : items;
  return (
    <div
      {...props.box}
      ref={scroller}
      className={classNames("min-h-0 flex-1 overflow-auto [overflow-anchor:none]", props.box?.className)}
    >
      {props.above}
      <table
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: arrows move through its rows, as in a grid.
        role="grid"
        aria-label={props.label}
        aria-rowcount={props.isOpenEnded ? -1 : count + 1}
        aria-busy={props.isBusy}
        tabIndex={0}
        {...(items.some(({ index }) => index === active) && { "aria-activedescendant": idOfRow(active ?? 0) })}
        onKeyDown={onKeyDown}
        onClick={onClick}
        className="group block outline-none"
      >
        <thead className="sticky top-0 z-10 block bg-page shadow-[inset_0_-1px_0_var(--line)]">
          <tr aria-rowindex={1} className={props.rowClass} style={{ gridTemplateColumns: props.template }}>
            {props.columns.map(({ title, isHidden = false, className = "text-left" }) => (
              <th
                key={title}
                scope="col"
                className={classNames("truncate font-normal font-sans text-muted text-small", className)}
              >
                {isHidden ? <span className="sr-only">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="relative block" style={{ height: virtual.getTotalSize() }}>
          {drawn.map(({ index, start }) =>
            props.children({ index, top: start - rowHeight, isActive: index === active }, index % items.length),
          )}
        </tbody>
      </table>
      {props.below}
    </div>
  );
}
