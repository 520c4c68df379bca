import { useEffect, useState } from "react";

/** The time, five times a second while something runs. Otherwise it stands still. */
export function useNow(isRunning: boolean): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNowMs(Date.now()), 200);
    return () => clearInterval(timer);
  }, [isRunning]);
  return nowMs;
}
