import { type ComponentProps, useLayoutEffect, useRef } from "react";
import { useSlowClock } from "../../../parts/ago.tsx";
import type { TableColumn } from "../../../parts/table.tsx";
import { useElementWidth } from "../../../parts/use-element-width.ts";
import { VirtualGrid } from "../../../parts/virtual-grid.tsx";
import type { LogLines } from "../tail/log-lines.ts";
import { columnsFor, type LogColumns, LogRow, rowClass, rowHeight } from "./log-row.tsx";

const titles = ({ hasLevelWord, hasRun }: LogColumns): readonly TableColumn[] => [
  { title: "Time" },
  { title: "Level", isHidden: !hasLevelWord },
  { title: "Message" },
  ...(hasRun ? [{ title: "Run" }] : []),
];

type GridProps = ComponentProps<typeof VirtualGrid>;

interface LogGridProps extends Pick<GridProps, "scroller" | "active" | "onMove" | "onEnter" | "onRowClick" | "above"> {
  readonly lines: LogLines;
  /** Changes with the lines. */
  readonly version: number;
  /** The newest line stays in sight. */
  readonly sticksToEnd: boolean;
  readonly isLoading: boolean;
  /** There is nothing to show, and another element explains why. */
  readonly isHidden: boolean;
  readonly openId: string | undefined;
  /** Called when the user scrolls back. */
  readonly onLookBack: () => void;
}

/** The visible lines, newest at the bottom as in a terminal. */
export function LogGrid(props: LogGridProps) {
  const { lines, version, sticksToEnd, isLoading, isHidden, openId, onLookBack, ...grid } = props;
  const today = useSlowClock();
  const columns = columnsFor(useElementWidth(grid.scroller));
  useKeepPlace(props, version);
  return (
    <VirtualGrid
      {...grid}
      {...{ rowClass, rowHeight }}
      label="Log lines"
      box={{
        ...(isHidden && { className: "hidden" }),
        onWheel: ({ deltaY }) => deltaY < 0 && onLookBack(),
        onTouchMove: onLookBack,
        onPointerDown: ({ target }) => target === grid.scroller.current && onLookBack(),
      }}
      count={lines.count()}
      isBusy={isLoading}
      columns={titles(columns)}
      template={columns.template}
    >
      {(row) => {
        const line = lines.at(row.index);
        return line && <LogRow key={line.id} {...row} {...{ line, columns, today }} isOpen={line.id === openId} />;
      }}
    </VirtualGrid>
  );
}

/** Scrolls to the end while it sticks there; otherwise the visible lines stay in place when older ones are added above them. */
function useKeepPlace({ scroller, lines, sticksToEnd }: LogGridProps, version: number): void {
  const before = useRef({ firstId: undefined as string | undefined, count: 0 });
  // The lines are mutated in place, and their version with them.
  useLayoutEffect(() => {
    const box = scroller.current;
    const count = lines.count();
    const firstId = lines.at(0)?.id;
    if (box && (sticksToEnd || before.current.count === 0)) box.scrollTop = box.scrollHeight;
    else if (box && firstId !== before.current.firstId) box.scrollTop += (count - before.current.count) * rowHeight;
    before.current = { firstId, count };
  }, [version, sticksToEnd, lines, scroller]);
}
