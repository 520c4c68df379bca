import type { Agent } from "@perch/sdk";
import { useQuery } from "@tanstack/react-query";
import { draftCheckQuery } from "../../../api/deployments-queries.ts";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { StatusMark } from "../../../parts/status-mark.tsx";

/** The reasons why a deployment of the saved draft would fail, shown before it starts. The deployment checks again. */
export function DraftFindings({ agent }: { readonly agent: Agent }) {
  const { data: problems, error, isFetching, refetch } = useQuery(draftCheckQuery(agent));
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  return (
    <div role="status" className="text-table">
      {isFetching && !problems && (
        <p className="text-muted">
          <span className="pulse mr-2 inline-block size-2 rounded-full bg-accent" />
          Checking the draft: its limits, secrets, models and tools. This takes up to 5 seconds.
        </p>
      )}
      {problems?.length === 0 && (
        <p className="flex items-center gap-1.5 text-muted">
          <StatusMark status="completed" iconOnly word="checked" />
          No problems found in the draft.
        </p>
      )}
      {problems && problems.length > 0 && (
        <>
          <p className="font-medium text-danger">
            {problems.length === 1 ? "The draft has a problem" : `The draft has ${problems.length} problems`}: a
            deployment of it would fail.
          </p>
          <ul aria-label="Problems of the draft" className="max-h-40 overflow-auto">
            {problems.map(({ field, message }) => (
              <li key={`${field} ${message}`} className="flex gap-2 border-line border-b py-1.5">
                <StatusMark status="failed" iconOnly />
                <code className="shrink-0 font-mono text-small leading-5">{field}</code>
                <OutsideText text={message} className="min-w-0" />
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
