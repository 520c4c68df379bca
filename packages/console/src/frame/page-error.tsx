import { onlineManager } from "@tanstack/react-query";
import { useEffect } from "react";
import { Button } from "../parts/button.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { useTabTitle } from "../parts/page.tsx";
import { isOfOtherRelease, reloadAfterUpgrade } from "./other-release.ts";

interface PageErrorProps {
  readonly error: unknown;
  readonly reset: () => void;
}

/** What a page shows that could not be loaded. It tries again when a connection that was lost is back. */
export function PageError({ error, reset }: PageErrorProps) {
  const isMissingPart = isOfOtherRelease(error);
  useTabTitle("Not loaded");
  useEffect(() => {
    if (isMissingPart) void reloadAfterUpgrade();
  }, [isMissingPart]);
  useEffect(() => onlineManager.subscribe((isOnline) => isOnline && reset()), [reset]);
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
        <ErrorNote error={error} onRetry={reset} />
      )}
    </div>
  );
}

/** The same where there is no frame around it. */
export const WholePageError = (props: PageErrorProps) => (
  <main>
    <PageError {...props} />
  </main>
);
