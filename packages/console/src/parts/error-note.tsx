import { PerchError } from "@perch/sdk";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";

interface ErrorNoteProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
  readonly children?: ReactNode;
}

/** The API's own message. The client has other errors without a status, such as failed checks; only one of them is a lost connection. */
export const messageOf = (error: unknown): string => {
  if (error instanceof PerchError)
    return error.code === "connection_failed"
      ? "The server cannot be reached. Check your connection."
      : error.shortMessage;
  return error instanceof Error ? error.message : "Something went wrong in this page. Reload it.";
};

/** An error in the API's own words, its fields, and the request id for a report. */
export function ErrorNote({ error, onRetry, children }: ErrorNoteProps) {
  const { details = [], correlationId } = error instanceof PerchError ? error : {};
  return (
    <div role="alert" className="rounded border border-danger bg-danger-soft px-3 py-2 text-table">
      <p className="font-medium text-danger [overflow-wrap:anywhere]">{messageOf(error)}</p>
      {details.length > 0 && (
        <ul className="mt-1 list-disc pl-5">
          {details.map(({ field, error: problem }) => (
            <li key={`${field} ${problem}`} className="[overflow-wrap:anywhere]">
              <code className="font-mono">{field}</code>: {problem}
            </li>
          ))}
        </ul>
      )}
      {children}
      <div className="mt-1 flex flex-wrap items-center gap-2">
        {correlationId && (
          <span className="inline-flex items-center text-small text-muted">
            Correlation id <code className="ml-1 font-mono">{correlationId}</code>
            <CopyButton text={correlationId} what="the correlation id" />
          </span>
        )}
        {onRetry && (
          <Button kind="quiet" onClick={onRetry}>
            Try again
          </Button>
        )}
      </div>
    </div>
  );
}
