import { useRef, useState } from "react";
import { isNotFound } from "../../../api/is-not-found.ts";
import type { LogLine } from "../../../api/logs-queries.ts";
import { NoSuchAgent } from "../../../lists/no-such-agent.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { useFocusGrid } from "../../../parts/virtual-grid.tsx";
import type { Log } from "../tail/use-log.ts";
import { LogGrid } from "./log-grid.tsx";
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

/** The lines with keyboard control: arrows move, Enter opens, space pauses and resumes a tail. */
export function LogList({ agent, log, openId, onOpen, isFiltered, onClear }: LogListProps) {
  const { store, tail, isLoading, failure } = log;
  const scroller = useRef<HTMLDivElement>(null);
  const [activeId, setActiveId] = useState<string>();
  const isTail = tail !== undefined;
  const isPaused = store.isPaused();
  const all = store.lines.all();
  // Without an active line the keyboard begins at the newest.
  const found = activeId === undefined ? -1 : all.findIndex(({ id }) => id === activeId);
  const active = found === -1 ? undefined : found;
  usePauseKey(isTail, () => (store.isPaused() ? store.resume() : store.pause()));
  // The focus returns to the list when a line is closed, and when a tail begins: on the button, space would end it.
  useFocusGrid(scroller, openId === undefined);
  useFocusGrid(scroller, isTail);
  const openAt = (index: number) => {
    const line = all[index];
    if (line) onOpen(line, openId !== undefined);
  };
  const onMove = (row: number) => {
    if (isTail) store.pause();
    setActiveId(all[row]?.id);
    if (openId !== undefined) openAt(row);
  };
  const onRowClick = (row: number) => {
    setActiveId(all[row]?.id);
    openAt(row);
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
        {...{ isLoading, active, openId, onMove, onRowClick }}
        onEnter={openAt}
      />
      {tail !== undefined && <TailLine tail={tail} store={store} />}
    </div>
  );
}
