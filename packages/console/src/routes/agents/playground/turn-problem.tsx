import { ConnectionError } from "@perch/sdk";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { StoppedUnsentError, type Turn } from "./turn.ts";

interface TurnProblemProps {
  readonly turn: Turn;
  readonly onFollow: () => void;
  readonly onEdit: (() => void) | undefined;
}

/** The reason why a turn has no answer, in the API's words. A run that this page lost may go on, and can be followed again. */
export function TurnProblem({ turn, onFollow, onEdit }: TurnProblemProps) {
  const { error, status, runId } = turn;
  if (error instanceof StoppedUnsentError)
    return (
      <p className="text-muted text-table">
        Stopped before the server had accepted the message. If it arrived all the same, its run is in the list of runs.
      </p>
    );
  if (status !== "failed" || error === undefined) return null;
  if (typeof error === "string")
    return (
      <div className="flex flex-col items-start gap-2 rounded border border-danger bg-danger-soft px-3 py-2 text-table">
        <p className="font-medium text-danger">
          <OutsideText text={error} />
        </p>
        {onEdit && <Button onClick={onEdit}>Edit and run again</Button>}
      </div>
    );
  const isLost = error instanceof ConnectionError && runId !== undefined;
  return (
    <ErrorNote error={error} {...(isLost && { onRetry: onFollow })}>
      {onEdit && !isLost && (
        <Button className="mt-2" onClick={onEdit}>
          Edit and run again
        </Button>
      )}
    </ErrorNote>
  );
}
