import { onlineManager, useQueryErrorResetBoundary } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useCallback, useEffect } from "react";
import { isNotFound } from "../api/is-not-found.ts";
import { Button } from "../parts/button.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { OutsideText } from "../parts/outside-text.tsx";
import { useTabTitle } from "../parts/page.tsx";
import { textLinkClass } from "../parts/text-link.ts";
import { isOfOtherRelease, reloadAfterUpgrade } from "./other-release.ts";

interface PageErrorProps {
  readonly error: unknown;
  readonly reset: () => void;
  /** Explains more of the error than its note does. */
  readonly children?: ((retry: () => void) => ReactNode) | undefined;
}

/** Retrying would give the same answer. */
const Missing = ({ message }: { readonly message: string }) => (
  <EmptyState heading="h1" title="There is nothing at this address">
    <p>
      <OutsideText text={message} />
    </p>
    <p>
      It may have been deleted, or belong to another organisation. See which{" "}
      <Link to="/agents" className={textLinkClass}>
        agents
      </Link>{" "}
      there are.
    </p>
  </EmptyState>
);

/** The content of a page that could not be loaded. It retries when a lost connection is back. */
export function PageError({ error, reset, children }: PageErrorProps) {
  const isMissingPart = isOfOtherRelease(error);
  const isMissing = isNotFound(error);
  useTabTitle(isMissing ? "Not found" : "Not loaded");
  const { reset: forgetFailedQueries } = useQueryErrorResetBoundary();
  const retry = useCallback(() => {
    // Without the reset, the page would get the cached error again without asking the server.
    forgetFailedQueries();
    reset();
  }, [forgetFailedQueries, reset]);
  useEffect(() => {
    if (isMissingPart) void reloadAfterUpgrade();
  }, [isMissingPart]);
  useEffect(() => onlineManager.subscribe((isOnline) => isOnline && retry()), [retry]);
  if (isMissing) return <Missing message={error.shortMessage} />;
  return (
    <div className="mx-auto flex max-w-2xl flex-col gap-3 p-4">
      <h1 className="text-title">This page could not be loaded</h1>
      {isMissingPart ? (
        <>
          <p>
            A part of the console could not be loaded. Either there is no connection, or the server was upgraded. When
            there is a connection, reload the page.
          </p>
          <Button kind="primary" className="self-start" onClick={() => location.reload()}>
            Reload the page
          </Button>
        </>
      ) : (
        (children?.(retry) ?? <ErrorNote error={error} onRetry={retry} />)
      )}
    </div>
  );
}

/** The same for a page outside the frame. */
export const WholePageError = (props: PageErrorProps) => (
  <main>
    <PageError {...props} />
  </main>
);
