import { memo } from "react";
import type { LogLine } from "../../../api/logs-queries.ts";
import { exactTime } from "../../../parts/ago.tsx";
import { classNames } from "../../../parts/class-names.ts";
import { type GridRow, gridRowProps } from "../../../parts/virtual-grid.tsx";
import { beginningOf, visibleText } from "../../../parts/visible-text.ts";
import { LevelMark } from "./level-mark.tsx";
import { lineTime } from "./line-time.ts";

export const rowHeight = 24;
export const rowClass = "grid h-6 items-center gap-3 px-4 font-mono text-table";
/** A row has one line; the whole message is shown beside the list. */
const shownCharacters = 500;

export interface LogColumns {
  readonly template: string;
  readonly hasLevelWord: boolean;
  readonly hasRun: boolean;
}

/** As many columns as there is room for. */
export function columnsFor(width: number): LogColumns {
  const [hasLevelWord, hasRun] = [width >= 640, width >= 900];
  return {
    template: `104px ${hasLevelWord ? "64px" : "16px"} minmax(0, 1fr)${hasRun ? " 128px" : ""}`,
    hasLevelWord,
    hasRun,
  };
}

interface LogRowProps extends GridRow {
  readonly line: LogLine;
  readonly columns: LogColumns;
  readonly today: Date;
  readonly isOpen: boolean;
}

const tints = { debug: "", info: "", warn: "bg-warning-soft", error: "bg-danger-soft" };

export const LogRow = memo(({ line, columns, today, isOpen, ...row }: LogRowProps) => {
  const at = new Date(line.timestamp);
  const message = visibleText(beginningOf(line.message, shownCharacters));
  return (
    <tr
      {...gridRowProps({
        ...row,
        isOpen,
        template: columns.template,
        className: classNames(rowClass, !isOpen && tints[line.level]),
      })}
    >
      <td className="truncate text-muted text-small">
        <time dateTime={line.timestamp} title={exactTime(at)}>
          {lineTime(at, today)}
        </time>
      </td>
      <td className="truncate text-small">
        <LevelMark level={line.level} iconOnly={!columns.hasLevelWord} />
      </td>
      <td className="truncate [unicode-bidi:plaintext]" title={message}>
        {message}
      </td>
      {columns.hasRun && (
        // Neighbours share the beginning of an id, so the end is shown if there is little room.
        <td className="truncate text-left text-muted text-small [direction:rtl]">{line.metadata.request_id}</td>
      )}
    </tr>
  );
});
