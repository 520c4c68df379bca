import { memo } from "react";
import type { ListedRun } from "../../../api/run-list-queries.ts";
import { type GridRow, gridRowProps } from "../../../parts/virtual-grid.tsx";
import type { Column } from "./columns.tsx";

export const rowHeight = 32;
export const rowClass = "grid h-8 items-center gap-3 border-line border-b px-4";
/** Browsers let cells inherit their row's alignment, and then restyle every cell when its row moves. */
const cellClass = "align-middle";

/** Text from outside has its own direction, which does not affect its neighbours: as in `OutsideText`, with fewer elements. */
const cellClasses = {
  plain: `${cellClass} truncate`,
  outside: `${cellClass} truncate [unicode-bidi:plaintext]`,
  // The beginning of an id is its time, which neighbours share, so the end is shown if there is little room.
  id: `${cellClass} truncate text-left font-mono text-small [direction:rtl]`,
  number: `${cellClass} truncate text-right font-mono text-small`,
};

interface RunRowProps extends GridRow {
  /** Undefined while its page is fetched. */
  readonly run: ListedRun | undefined;
  readonly href: string;
  readonly columns: readonly Column[];
  readonly template: string;
  readonly now: Date;
  readonly isOpen: boolean;
}

/** A plain row without listeners or timers of its own: there can be a million of them, and sixty frames a second. */
export const RunRow = memo(({ run, href, columns, template, now, isOpen, ...row }: RunRowProps) => (
  <tr {...gridRowProps({ ...row, template, isOpen, className: rowClass })}>
    {columns.map(({ id, kind = "plain", cell }) => {
      const content = run && cell(run, { now, href });
      return (
        <td key={id} className={cellClasses[kind]} title={typeof content === "string" ? content : undefined}>
          {run ? content : <span className="block h-2 w-2/3 rounded bg-line" />}
        </td>
      );
    })}
  </tr>
));
