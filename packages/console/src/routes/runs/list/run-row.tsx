import { memo } from "react";
import type { ListedRun } from "../../../api/run-list-queries.ts";
import { classNames } from "../../../parts/class-names.ts";
import type { Column } from "./columns.tsx";

export const rowHeight = 32;
export const rowClass = "grid h-8 items-center gap-3 border-line border-b px-4";
/** Browsers let cells inherit their row's alignment, and then look at every cell again when its row moves. */
const cellClass = "align-middle";

/** Text from outside finds its own direction, which its neighbours do not feel: as in `OutsideText`, with fewer elements. */
const cellClasses = {
  plain: `${cellClass} truncate`,
  outside: `${cellClass} truncate [unicode-bidi:plaintext]`,
  // The beginning of an id is its time, and neighbours share it: where there is little room, the end is shown.
  id: `${cellClass} truncate text-left font-mono text-small [direction:rtl]`,
  number: `${cellClass} truncate text-right font-mono text-small`,
};

export const idOfRow = (index: number): string => `run-row-${index}`;

interface RunRowProps {
  /** Undefined while its page is fetched. */
  readonly run: ListedRun | undefined;
  readonly index: number;
  readonly top: number;
  readonly href: string;
  readonly columns: readonly Column[];
  readonly template: string;
  readonly now: Date;
  readonly isActive: boolean;
  readonly isOpen: boolean;
}

/** A plain row without listeners or timers of its own: there can be a million of them, and sixty frames a second. */
export const RunRow = memo(({ run, index, top, href, columns, template, now, isActive, isOpen }: RunRowProps) => (
  <tr
    id={idOfRow(index)}
    data-index={index}
    aria-rowindex={index + 2}
    aria-selected={isOpen}
    className={classNames(
      rowClass,
      "absolute inset-x-0 cursor-pointer [contain:strict]",
      isOpen ? "bg-accent-soft" : "hover:bg-sunken",
      isActive && "outline-offset-[-2px] outline-accent group-focus-visible:outline-2",
    )}
    style={{ transform: `translateY(${top}px)`, gridTemplateColumns: template }}
  >
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
