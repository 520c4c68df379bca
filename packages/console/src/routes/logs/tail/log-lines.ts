import type { LogLine, LogPage } from "../../../api/logs-queries.ts";

/** So many lines stay in the tab. Older ones are dropped, and can be asked for again. */
export const maxLines = 5000;

/** The lines that a page holds, in the order of their time, without any twice. */
export interface LogLines {
  readonly count: () => number;
  readonly at: (index: number) => LogLine | undefined;
  readonly all: () => readonly LogLine[];
  /** New lines, as they arrive. What is too much is dropped at the beginning. */
  readonly add: (lines: readonly LogLine[]) => void;
  /**
   * A page of older lines, and the cursor that it was asked for with. They are kept until `trim`, however many they are.
   * If lines were dropped in the meantime, it does not belong before what is left, and is ignored.
   */
  readonly addOlder: (page: LogPage, cursor: string | undefined) => void;
  /** Back to the size that a tail may have. */
  readonly trim: () => void;
  /** Leads to what is before the first line. Undefined: nothing was fetched yet. Null: nothing is. */
  readonly olderCursor: () => string | null | undefined;
}

export function createLogLines(limit = maxLines): LogLines {
  let lines: LogLine[] = [];
  const ids = new Set<string>();
  let olderCursor: string | null | undefined;
  let room = limit;

  /** Nearly always the end: only the lines of a run that took a while are older than others that came before. */
  const insert = (line: LogLine): void => {
    let index = lines.length;
    while (index > 0 && (lines[index - 1]?.timestamp ?? "") > line.timestamp) index--;
    if (index === lines.length) lines.push(line);
    else lines.splice(index, 0, line);
    ids.add(line.id);
  };
  const dropBeyond = (most: number): void => {
    const dropped = lines.splice(0, Math.max(0, lines.length - most));
    for (const { id } of dropped) ids.delete(id);
    // The id of an entry is the cursor to those before it.
    if (dropped.length > 0) olderCursor = lines[0]?.id;
  };
  return {
    count: () => lines.length,
    at: (index) => lines[index],
    all: () => lines,
    add: (added) => {
      for (const line of added) if (!ids.has(line.id)) insert(line);
      dropBeyond(room);
    },
    addOlder: (page, cursor) => {
      if (cursor !== olderCursor) return;
      const fresh = page.lines.filter(({ id }) => !ids.has(id));
      const first = lines[0]?.timestamp ?? "";
      const isBefore = fresh.every(({ timestamp }) => lines.length === 0 || timestamp <= first);
      if (isBefore) {
        lines = [...fresh, ...lines];
        for (const { id } of fresh) ids.add(id);
      } else for (const line of fresh) insert(line);
      olderCursor = page.olderCursor;
      room = Math.max(room, lines.length);
    },
    trim: () => {
      room = limit;
      dropBeyond(room);
    },
    olderCursor: () => olderCursor,
  };
}
