import type { Trace } from "./trace.ts";
import { TraceRow } from "./trace-row.tsx";
import { spanOf } from "./trace-times.ts";
import { useNow } from "./use-now.ts";

interface TraceListProps {
  readonly trace: Trace;
  /** False if the page got the events later than they happened. No times are shown then. */
  readonly hasTimes?: boolean;
  /** The length of the run that this one is compared with, so that both have the same scale. */
  readonly minLengthMs?: number | undefined;
}

/** Every attempt of every step, one line each, with a bar to scale. A line opens the input and output of the step. */
export function TraceList({ trace, hasTimes = true, minLengthMs = 1 }: TraceListProps) {
  const nowMs = useNow(trace.endedAtMs === null);
  return (
    <>
      <ol className="text-table">
        {trace.steps.map((step) => (
          <TraceRow
            key={step.key}
            step={step}
            span={hasTimes ? spanOf(step, trace, nowMs, minLengthMs) : undefined}
            // The clock of this list ticks five times a second: a step may have begun after its last tick.
            runningMs={hasTimes && step.status === "running" ? Math.max(0, nowMs - step.startedAtMs) : undefined}
          />
        ))}
      </ol>
      {trace.dropped !== null && <p className="px-4 py-2 text-muted text-small">{trace.dropped}</p>}
    </>
  );
}
