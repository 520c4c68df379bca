import { extentOf } from "../parts/content-text.ts";
import { ContentView } from "../parts/content-view.tsx";
import { formatDuration } from "../parts/duration.ts";
import { OutsideText } from "../parts/outside-text.tsx";
import type { TraceStep } from "./trace.ts";

const nothingKept = ({ status }: TraceStep): string =>
  status === "running"
    ? "Nothing has come yet."
    : "No contents are kept of this step. Set logs of the agent to full to keep them.";

/** What a step was asked and said, and why it did not go on. */
export function StepContents({ step }: { readonly step: TraceStep }) {
  const { reason, waitMs, asked, said } = step;
  const hasAsked = extentOf(asked) !== "nothing";
  const hasSaid = extentOf(said) !== "nothing" && said !== "";
  return (
    <div className="flex flex-col gap-2 px-4 py-2">
      {reason !== null && (
        <p className="text-small">
          <OutsideText text={reason} />
          {waitMs !== null && ` The next attempt begins after ${formatDuration(waitMs)}.`}
        </p>
      )}
      {hasAsked && <ContentView title="Asked" what="what it was asked" value={asked} />}
      {hasSaid && <ContentView title="Said" what="what it said" value={said} />}
      {!hasAsked && !hasSaid && reason === null && <p className="text-muted text-small">{nothingKept(step)}</p>}
    </div>
  );
}
