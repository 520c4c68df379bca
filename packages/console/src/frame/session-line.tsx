import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { meQuery } from "../session/session.ts";
import { useIsSessionEnded } from "../session/session-ended.ts";

/** Whoever comes back from the other tab has signed in there, or not. */
function useAskOnReturn(isEnded: boolean): void {
  const client = useQueryClient();
  useEffect(() => {
    if (!isEnded) return;
    const ask = () => void client.prefetchQuery({ ...meQuery, staleTime: 0 });
    addEventListener("focus", ask);
    document.addEventListener("visibilitychange", ask);
    return () => {
      removeEventListener("focus", ask);
      document.removeEventListener("visibilitychange", ask);
    };
  }, [isEnded, client]);
}

/** The session ended while something is not saved: the page stays, and says how to go on. */
export function SessionLine() {
  const isEnded = useIsSessionEnded();
  useAskOnReturn(isEnded);
  return (
    <div role="status" className="shrink-0">
      {isEnded && (
        <p className="border-line border-b bg-warning-soft px-4 py-1 text-small text-warning">
          Your session has ended.{" "}
          <a href="/console/sign-in" target="_blank" rel="noopener" className="underline">
            Sign in in another tab
          </a>
          , then go on here: what you wrote is still on this page.
        </p>
      )}
    </div>
  );
}
