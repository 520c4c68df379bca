import type { LogLine, LogPage } from "../../../api/logs-queries.ts";
import { createLogLines, type LogLines, maxLines } from "./log-lines.ts";

/** The state of a log on the page. It changes at most once per frame, however many lines arrive. */
export interface LogStore {
  readonly lines: LogLines;
  readonly subscribe: (listener: () => void) => () => void;
  readonly version: () => number;
  /** The number of lines that have arrived since the view was paused. */
  readonly held: () => number;
  readonly isPaused: () => boolean;
  readonly pause: () => void;
  readonly resume: () => void;
  readonly receive: (line: LogLine) => void;
  /** The newest page of the log. The first one initialises the store; new lines of a later one count as received. */
  readonly addNewest: (page: LogPage) => void;
  readonly addOlder: LogLines["addOlder"];
  readonly stop: () => void;
}

/** A hidden tab draws no frames, and its lines must not pile up. */
const hiddenMs = 1000;

/** Calls back in the next frame, or a little later if no frame comes. */
function createNextFrame(callback: () => void) {
  let frame = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const cancel = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    frame = 0;
  };
  const run = () => {
    cancel();
    callback();
  };
  return {
    ask: () => {
      if (frame !== 0) return;
      frame = requestAnimationFrame(run);
      timer = setTimeout(run, hiddenMs);
    },
    cancel,
  };
}

export function createLogStore(): LogStore {
  const lines = createLogLines();
  const listeners = new Set<() => void>();
  let version = 0;
  let isPaused = false;
  /** Lines not shown yet: until the next frame, or while the view is paused. */
  let waiting: LogLine[] = [];
  let held = 0;
  const changed = () => {
    version++;
    for (const listen of listeners) listen();
  };
  const show = () => {
    lines.add(waiting);
    waiting = [];
    held = 0;
  };
  const frame = createNextFrame(() => {
    if (!isPaused) show();
    changed();
  });
  const receive = (line: LogLine) => {
    waiting.push(line);
    held++;
    // More than the view can take: the first of them would be dropped anyway.
    if (waiting.length > 2 * maxLines) waiting = waiting.slice(-maxLines);
    frame.ask();
  };
  const addOlder: LogLines["addOlder"] = (page, cursor) => {
    lines.addOlder(page, cursor);
    changed();
  };
  return {
    lines,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    version: () => version,
    held: () => held,
    isPaused: () => isPaused,
    pause: () => {
      if (isPaused) return;
      isPaused = true;
      held = waiting.length;
      changed();
    },
    resume: () => {
      isPaused = false;
      lines.trim();
      show();
      changed();
    },
    receive,
    addNewest: (page) => {
      if (lines.olderCursor() === undefined) return addOlder(page, undefined);
      const known = new Set([...lines.all(), ...waiting].map(({ id }) => id));
      for (const line of page.lines) if (!known.has(line.id)) receive(line);
    },
    addOlder,
    stop: frame.cancel,
  };
}
