import type { LogLine, LogPage } from "../../../api/logs-queries.ts";

/** At most this many lines stay in the tab. Older ones are dropped, and can be loaded again. */
export const maxLines = 5000;

/** The lines of a page, in the order of their time, without duplicates. */
export interface LogLines {
  readonly count: () => number;
  readonly at: (index: number) => LogLine | undefined;
  readonly all: () => readonly LogLine[];
  /** New lines as they arrive. Beyond the limit, the oldest are dropped. */
  readonly add: (lines: readonly LogLine[]) => void;
  /**
   * A page of older lines, and the cursor that it was requested with. They stay until `trim`, however many they are. If lines were dropped
   * meanwhile, the page no longer connects to the rest and is ignored.
   */
  readonly addOlder: (page: LogPage, cursor: string | undefined) => void;
  /** Trims the lines to the limit of a tail. */
  readonly trim: () => void;
  /** The cursor to the lines before the first one. Undefined if nothing was fetched yet, null if there are none. */
  readonly olderCursor: () => string | null | undefined;
}

export function createLogLines(limit = maxLines): LogLines {
  let lines: LogLine[] = [];
  const ids = new Set<string>();
  let olderCursor: string | null | undefined;
  let room = limit;

  /** Nearly always the end: only lines of a long run are older than others that arrived before them. */
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
