import type { Invocation } from "@perch/sdk";
import { Button } from "../../../parts/button.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import type { TraceStep } from "../../../run-trace/trace.ts";

const whose = {
  run_failed: "The cause is in the agent, in its limits, or in a service that it calls.",
  server_error: "Perch itself failed. Report it with the request id.",
};

const adviceOf = ({ retryable }: Invocation): string =>
  retryable
    ? "Running it again can succeed without a change to the agent."
    : "Running it again will fail in the same way: change the agent, its limits or the message first.";

interface FailureNoteProps {
  readonly run: Invocation;
  /** The step that made the run fail, if one did. */
  readonly step: TraceStep | undefined;
  readonly onShowStep: (key: string) => void;
}

/** Explains a failed run before anything else: what happened, who is responsible, and whether to retry. */
export const FailureNote = ({ run, step, onShowStep }: FailureNoteProps) => (
  <div role="alert" className="mx-4 rounded border border-danger bg-danger-soft px-3 py-2 text-table">
    <p className="font-medium text-danger">
      <OutsideText text={run.error ?? "The run failed."} />
    </p>
    <p>
      {run.error_code !== null && `${whose[run.error_code]} `}
      {adviceOf(run)}
    </p>
    {step && (
      <Button className="mt-1.5 h-6 px-2 text-small" onClick={() => onShowStep(step.key)}>
        Show the step that failed
      </Button>
    )}
  </div>
);

/** The last failed step of a failed run. A failed tool did not end the run if a model was called after it. */
export function failingStep(run: Invocation, steps: readonly TraceStep[]): TraceStep | undefined {
  if (run.status !== "failed") return undefined;
  const last = steps.at(-1);
  const failed = steps.findLast(({ status }) => status === "failed");
  return failed && last && failed.step === last.step ? failed : undefined;
}
