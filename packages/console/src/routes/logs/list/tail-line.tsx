import type { TailState } from "../../../api/logs-queries.ts";
import { useStoredFlag } from "../../../frame/stored-flag.ts";
import { singleKeysOff } from "../../../frame/use-shortcuts.ts";
import { Button } from "../../../parts/button.tsx";
import { formatCount } from "../../../parts/duration.ts";
import type { LogStore } from "../tail/log-store.ts";

const words: Record<TailState, string> = {
  connecting: "Connecting.",
  open: "Following.",
  lost: "The connection was lost; trying again. Lines that are written meanwhile are fetched then.",
  ended: "Not following.",
};

const linesOf = (count: number): string => `${formatCount(count)} new ${count === 1 ? "line" : "lines"}`;

/** Below the newest line: whether new ones arrive, and how many wait while the view is paused. */
export function TailLine({ tail, store }: { readonly tail: TailState; readonly store: LogStore }) {
  const isPaused = store.isPaused();
  const [isSpaceOff] = useStoredFlag(singleKeysOff);
  return (
    <div className="flex min-h-10 shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-line border-t px-4 py-1 text-table">
      <p role="status" className={tail === "lost" ? "text-warning" : "text-muted"}>
        {tail === "open" && !isPaused && (
          <span className="pulse mr-2 inline-block size-2 rounded-full bg-accent align-middle" />
        )}
        {isPaused && tail === "open" ? "Paused." : words[tail]}
        {tail === "open" && !isPaused && !isSpaceOff && " Space pauses."}
      </p>
      {isPaused && <span className="text-text tabular-nums">{linesOf(store.held())}</span>}
      {(isPaused || tail !== "ended") && (
        <Button
          kind={isPaused ? "primary" : "plain"}
          className="ml-auto"
          onClick={isPaused ? store.resume : store.pause}
        >
          {isPaused ? "Resume tail" : "Pause tail"}
        </Button>
      )}
    </div>
  );
}
