import { useFrameSearch } from "../../../frame/use-frame-search.ts";
import { KeptDays, useKeptSince } from "../../../lists/kept-days.tsx";
import { Button } from "../../../parts/button.tsx";
import { Working } from "../../../parts/working.tsx";
import type { Log } from "../tail/use-log.ts";

/** Above the first line: the way to those before it. */
export function OlderLines({ log: { store, isLoading, failure, loadOlder } }: { readonly log: Log }) {
  const cursor = store.lines.olderCursor();
  const isEmpty = store.lines.count() === 0;
  const [{ range }] = useFrameSearch();
  const isKept = useKeptSince(range) === undefined;
  if (failure) return null;
  if (cursor === undefined) return <Working what="the log" />;
  if (cursor === null && isEmpty) return null;
  if (cursor === null && !isKept) return <KeptDays range={range} className="px-4 py-2" />;
  if (cursor === null) return <p className="px-4 py-2 text-muted text-small">No older lines in this time range.</p>;
  return (
    <p className="flex flex-wrap items-center gap-3 px-4 py-2 text-muted text-table">
      {isEmpty && <span>None of the newest lines matches; older ones are left.</span>}
      <Button working={isLoading} onClick={loadOlder}>
        Show older lines
      </Button>
    </p>
  );
}
