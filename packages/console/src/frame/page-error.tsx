import { ErrorNote } from "../parts/error-note.tsx";

/** What a page shows that could not be loaded. The address stays, so that reloading tries the same again. */
export const PageError = ({ error, reset }: { readonly error: unknown; readonly reset: () => void }) => (
  <div className="mx-auto max-w-2xl p-4">
    <ErrorNote error={error} onRetry={reset} />
  </div>
);
