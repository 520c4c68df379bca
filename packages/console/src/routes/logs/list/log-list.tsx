import { type KeyboardEvent, type MouseEvent, useEffect, useRef, useState } from "react";
import { isNotFound } from "../../../api/is-not-found.ts";
import type { LogLine } from "../../../api/logs-queries.ts";
import { NoSuchAgent } from "../../../lists/no-such-agent.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { rowAfterKey } from "../../../parts/row-moves.ts";
import type { Log } from "../tail/use-log.ts";
import { LogGrid } from "./log-grid.tsx";
import { rowHeight } from "./log-row.tsx";
import { NoLines } from "./no-lines.tsx";
import { OlderLines } from "./older-lines.tsx";
import { TailLine } from "./tail-line.tsx";
import { usePauseKey } from "./use-pause-key.ts";

interface LogListProps {
  readonly agent: string;
  readonly log: Log;
  readonly openId: string | undefined;
  readonly onOpen: (line: LogLine, replace: boolean) => void;
  readonly isFiltered: boolean;
  readonly onClear: () => void;
}

/** The lines, with the keyboard: arrows move, Enter opens, space holds a tail and lets it go on. */
export function LogList({ agent, log, openId, onOpen, isFiltered, onClear }: LogListProps) {
  const { store, tail, isLoading, failure } = log;
  const scroller = useRef<HTMLDivElement>(null);
  const [activeId, setActiveId] = useState<string>();
  const isTail = tail !== undefined;
  const isPaused = store.isPaused();
  const all = store.lines.all();
  // Without a line of its own the keyboard begins at the newest.
  const found = activeId === undefined ? -1 : all.findIndex(({ id }) => id === activeId);
  const active = found === -1 ? undefined : found;
  usePauseKey(isTail, () => (store.isPaused() ? store.resume() : store.pause()));
  useFocusList(scroller, openId, isTail);
  const openAt = (index: number) => {
    const line = all[index];
    if (line) onOpen(line, openId !== undefined);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const last = all.length - 1;
    if (event.key === "Enter") return openAt(active ?? last);
    const rows = { active: active ?? last + 1, count: all.length, rowHeight, scroller: scroller.current };
    const row = rowAfterKey(event.key, rows);
    if (row === undefined || event.metaKey || event.ctrlKey || event.altKey) return;
    event.preventDefault();
    if (isTail) store.pause();
    setActiveId(all[row]?.id);
    if (openId !== undefined) openAt(row);
  };
  const onClick = (event: MouseEvent) => {
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-index]") : null;
    if (!row) return;
    const index = Number(row.dataset.index);
    setActiveId(all[index]?.id);
    openAt(index);
  };
  if (isNotFound(failure?.error)) return <NoSuchAgent agent={agent} />;
  const isEmpty = all.length === 0 && store.lines.olderCursor() === null && !isLoading;
  return (
    <div className="flex h-full min-h-0 flex-col">
      {failure && (
        <div className="p-4">
          <ErrorNote error={failure.error} onRetry={failure.retry} />
        </div>
      )}
      {isEmpty && <NoLines {...{ agent, isTail, isFiltered, onClear }} />}
      <LogGrid
        scroller={scroller}
        lines={store.lines}
        version={store.version()}
        sticksToEnd={isTail && !isPaused}
        isHidden={isEmpty}
        onLookBack={() => isTail && store.pause()}
        above={<OlderLines log={log} />}
        {...{ isLoading, active, openId, onKeyDown, onClick }}
      />
      {tail !== undefined && <TailLine tail={tail} store={store} />}
    </div>
  );
}

/** Whoever closes a line goes on in the list, and so does whoever begins to follow: on the button, space would end it. */
function useFocusList(scroller: { readonly current: HTMLElement | null }, openId: string | undefined, isTail: boolean) {
  const before = useRef({ openId, isTail });
  useEffect(() => {
    const hasClosed = before.current.openId !== undefined && openId === undefined;
    const hasBegun = !before.current.isTail && isTail;
    if (hasClosed || hasBegun)
      scroller.current?.querySelector<HTMLElement>("[role=grid]")?.focus({ preventScroll: true });
    before.current = { openId, isTail };
  }, [scroller, openId, isTail]);
}
