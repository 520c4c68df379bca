import { Button } from "../../../parts/button.tsx";
import { formatCount } from "../../../parts/duration.ts";
import { Working } from "../../../parts/working.tsx";
import type { RunPages } from "./use-run-pages.ts";

/** The end of the list: more is loading, nothing is older, or the user decides whether to search further. */
export function ListEnd({ pages }: { readonly pages: RunPages }) {
  if (pages.error !== undefined) return null;
  if (pages.isFull)
    return (
      <p className="px-4 py-3 text-muted">
        {formatCount(pages.count)} runs are listed. Choose a shorter or an earlier time range to see the others.
      </p>
    );
  if (pages.isPaused)
    return (
      <div role="status" className="flex flex-wrap items-center gap-3 px-4 py-3 text-muted">
        <span>Many runs were looked through, and {formatCount(pages.count)} match so far. Older ones are left.</span>
        <Button onClick={pages.goOn}>Go on looking</Button>
      </div>
    );
  if (!pages.isComplete) return <Working what="runs" />;
  return <p className="px-4 py-3 text-muted text-small">No older runs in this time range.</p>;
}
