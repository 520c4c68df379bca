import { extentOf } from "../parts/content-text.ts";
import { ContentView } from "../parts/content-view.tsx";
import { formatDuration } from "../parts/duration.ts";
import { OutsideText } from "../parts/outside-text.tsx";
import type { TraceStep } from "./trace.ts";

const nothingKept = ({ status }: TraceStep): string =>
  status === "running"
    ? "Nothing has come yet."
    : "The contents of this step are not stored. Set the agent's logs to full to store them.";

/** The input and output of a step, and the reason why it did not go on. */
export function StepContents({ step }: { readonly step: TraceStep }) {
  const { reason, waitMs, input, output } = step;
  const hasInput = extentOf(input) !== "nothing";
  const hasOutput = extentOf(output) !== "nothing" && output !== "";
  return (
    <div className="flex flex-col gap-2 px-4 py-2">
      {reason !== null && (
        <p className="text-small">
          <OutsideText text={reason} />
          {waitMs !== null && ` The next attempt begins after ${formatDuration(waitMs)}.`}
        </p>
      )}
      {hasInput && <ContentView title="Input" what="the input" value={input} />}
      {hasOutput && <ContentView title="Output" what="the output" value={output} />}
      {!hasInput && !hasOutput && reason === null && <p className="text-muted text-small">{nothingKept(step)}</p>}
    </div>
  );
}
