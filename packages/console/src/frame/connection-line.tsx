import { onlineManager } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import { perch } from "../api/perch.ts";

const shownAfterMs = 1000;
const askEveryMs = 3000;

const useIsOnline = (): boolean =>
  useSyncExternalStore(
    (listener) => onlineManager.subscribe(listener),
    () => onlineManager.isOnline(),
  );

/** While the server does not answer, polls it every few seconds. Its first answer resumes the queries that had to wait. */
function useReconnect(isOnline: boolean): void {
  useEffect(() => {
    if (isOnline) return;
    const ask = () => {
      // A hidden tab does not poll. It polls again as soon as it becomes visible.
      if (document.visibilityState === "visible")
        void perch.me({ maxRetries: 0, timeoutSeconds: 5 }).catch(() => undefined);
    };
    document.addEventListener("visibilitychange", ask);
    const first = setTimeout(ask, 500);
    const timer = setInterval(ask, askEveryMs);
    return () => {
      clearTimeout(first);
      clearInterval(timer);
      document.removeEventListener("visibilitychange", ask);
    };
  }, [isOnline]);
}

/** A quiet line while the server cannot be reached. A single lost request does not show it. */
export function ConnectionLine() {
  const isOnline = useIsOnline();
  const [isShown, setIsShown] = useState(false);
  useReconnect(isOnline);
  useEffect(() => {
    if (isOnline) return setIsShown(false);
    const timer = setTimeout(() => setIsShown(true), shownAfterMs);
    return () => clearTimeout(timer);
  }, [isOnline]);
  return (
    <div role="status" className="shrink-0">
      {isShown && (
        <p className="border-line border-b bg-warning-soft px-4 py-1 text-small text-warning">
          No connection; trying again. What you see may be out of date.
        </p>
      )}
    </div>
  );
}
