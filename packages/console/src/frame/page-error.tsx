import { Button } from "../parts/button.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { useTabTitle } from "../parts/page.tsx";
import { isOfOtherRelease } from "./other-release.ts";

interface PageErrorProps {
  readonly error: unknown;
  readonly reset: () => void;
}

/** What a page shows that could not be loaded. The address stays, so that reloading tries the same again. */
export function PageError({ error, reset }: PageErrorProps) {
  useTabTitle("Not loaded");
  return (
    <div className="mx-auto flex max-w-2xl flex-col gap-3 p-4">
      <h1 className="text-title">This page could not be loaded</h1>
      {isOfOtherRelease(error) ? (
        <>
          <p>A part of the console is missing, probably because the server was upgraded. Reload the page.</p>
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
