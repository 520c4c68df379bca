import { useEffect, useState } from "react";
import { exactTime } from "../../parts/ago.tsx";
import { classNames } from "../../parts/class-names.ts";
import { timeLeft } from "./time-left-text.ts";

/** The time now, every second. */
export function useSeconds(isRunning: boolean): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(new Date()), 1000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return now;
}

interface TimeLeftProps {
  readonly until: string;
  readonly now: Date;
}

/** The time left for a decision; red when it is short. */
export function TimeLeft({ until, now }: TimeLeftProps) {
  const { text, isShort } = timeLeft(new Date(until), now);
  return (
    <time
      dateTime={until}
      title={`Expires ${exactTime(new Date(until))}`}
      className={classNames("whitespace-nowrap", isShort && "font-medium text-danger")}
    >
      {text === undefined ? "expired" : `${text} left`}
    </time>
  );
}
