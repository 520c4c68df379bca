import { useNavigate, useParams, useRouter } from "@tanstack/react-router";
import { type MouseEvent, type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { type RunListing, runsPerPage } from "../../../api/run-list-queries.ts";
import { keepSearch } from "../../../parts/change-search.ts";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { focusGrid, useFocusGrid } from "../../../parts/virtual-grid.tsx";
import { ListEnd } from "./list-end.tsx";
import { RunGrid } from "./run-grid.tsx";
import { type RunPages, useRunPages } from "./use-run-pages.ts";

/** Holding an arrow key down must not open every run on the way. */
const openAfterMs = 150;

interface RunListProps {
  readonly listing: RunListing;
  readonly empty: ReactNode;
}

/** The list of runs with keyboard control: arrows move, Enter opens. */
export function RunList({ listing, empty }: RunListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState<readonly [number, number]>([0, 0]);
  const [active, setActive] = useState(0);
  const pages = useRunPages(listing, ...range);
  const { openId, open, hrefOf } = useOpenRun();
  const hrefOfRow = (row: number): string => {
    const run = pages.rowAt(row);
    return run ? hrefOf(run.agent_name, run.request_id) : "#";
  };
  const openRow = (row: number, replace: boolean) => {
    const run = pages.rowAt(row);
    if (run) open(run.agent_name, run.request_id, replace);
  };
  useActiveFromAddress(pages, openId, setActive);
  // The focus goes back to the list when a run is closed.
  useFocusGrid(scroller, openId === undefined);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const onMove = (row: number) => {
    setActive(row);
    clearTimeout(timer.current);
    if (openId !== undefined) timer.current = setTimeout(() => openRow(row, true), openAfterMs);
  };
  const onRowClick = (row: number, event: MouseEvent) => {
    // The browser handles a click that opens a tab or a window.
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    focusGrid(scroller.current);
    setActive(row);
    openRow(row, openId !== undefined);
  };
  const onRange = useCallback(
    (first: number, last: number) =>
      setRange((before) => (before[0] === first && before[1] === last ? before : [first, last])),
    [],
  );
  const isEmpty = pages.count === 0 && pages.isComplete;
  return (
    <div className="relative flex h-full min-h-0 flex-col">
      {pages.error !== undefined && (
        <div className="p-4">
          <ErrorNote error={pages.error} onRetry={pages.retry} />
        </div>
      )}
      <RunGrid
        {...{ scroller, pages, active, openId, onMove, onRowClick, onRange }}
        onEnter={(row) => openRow(row, false)}
        hrefOf={hrefOfRow}
        below={isEmpty ? empty : <ListEnd pages={pages} />}
      />
    </div>
  );
}

/** A link to a run scrolls to it in the list, if it is among the first. */
function useActiveFromAddress(pages: RunPages, openId: string | undefined, setActive: (row: number) => void) {
  const isLoaded = pages.count > 0;
  const found = useRef<number>(undefined);
  found.current = isLoaded
    ? Array.from({ length: Math.min(pages.count, runsPerPage) }, (_, row) => row).find(
        (row) => pages.rowAt(row)?.request_id === openId,
      )
    : undefined;
  useEffect(() => {
    if (isLoaded && found.current !== undefined) setActive(found.current);
  }, [isLoaded, setActive]);
}

/** The run beside the list. */
function useOpenRun() {
  const navigate = useNavigate();
  const router = useRouter();
  const { run: openId } = useParams({ strict: false });
  return {
    openId,
    open: (agent: string, run: string, replace: boolean) =>
      void navigate({
        to: "/runs/$agent/$run",
        params: { agent, run },
        search: keepSearch({ step: undefined }),
        replace,
        resetScroll: false,
      }),
    hrefOf: (agent: string, run: string): string =>
      `${router.basepath}/runs/${encodeURIComponent(agent)}/${run}${router.state.location.searchStr}`,
  };
}
