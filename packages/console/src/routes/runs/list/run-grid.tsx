import { type ComponentProps, useMemo } from "react";
import { useSlowClock } from "../../../parts/ago.tsx";
import { useElementWidth } from "../../../parts/use-element-width.ts";
import { VirtualGrid } from "../../../parts/virtual-grid.tsx";
import { columnsFor, templateOf } from "./columns.tsx";
import { RunRow, rowClass, rowHeight } from "./run-row.tsx";
import type { RunPages } from "./use-run-pages.ts";

type GridProps = ComponentProps<typeof VirtualGrid>;

interface RunGridProps
  extends Pick<GridProps, "scroller" | "active" | "onMove" | "onEnter" | "onRowClick" | "onRange" | "below"> {
  readonly pages: RunPages;
  /** The id of the run that is open beside the list. */
  readonly openId: string | undefined;
  readonly hrefOf: (row: number) => string;
}

/** The visible rows of a list of any length. */
export function RunGrid({ pages, openId, hrefOf, ...grid }: RunGridProps) {
  const now = useSlowClock();
  const width = useElementWidth(grid.scroller);
  const columns = useMemo(() => columnsFor(width), [width]);
  const template = templateOf(columns);
  return (
    <VirtualGrid
      {...grid}
      {...{ template, rowClass, rowHeight }}
      label="Runs"
      box={{ className: "text-table" }}
      count={pages.count}
      isOpenEnded
      isBusy={pages.isLoading}
      isRecycling
      columns={columns.map(({ id, title, kind }) => ({
        title,
        isHidden: id === "mark",
        className: kind === "number" ? "text-right" : "text-left",
      }))}
    >
      {(row, recycledKey) => {
        const run = pages.rowAt(row.index);
        const isOpen = run !== undefined && run.request_id === openId;
        return (
          <RunRow key={recycledKey} {...row} {...{ run, columns, template, now, isOpen }} href={hrefOf(row.index)} />
        );
      }}
    </VirtualGrid>
  );
}
