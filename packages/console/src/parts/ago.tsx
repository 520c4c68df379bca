import { useEffect, useState } from "react";

const units = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
] as const;

export function relativeTime(at: Date, now: Date): string {
  const seconds = Math.round((now.getTime() - at.getTime()) / 1000);
  const [sign, distance] = seconds < 0 ? ["in ", -seconds] : ["", seconds];
  const after = seconds < 0 ? "" : " ago";
  for (const [unit, length] of units)
    if (distance >= length) return `${sign}${Math.floor(distance / length)} ${unit}${after}`;
  return distance < 5 ? "now" : `${sign}${distance} s${after}`;
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

const listeners = new Set<() => void>();
setInterval(() => {
  for (const listen of listeners) listen();
}, 10_000);

/** The exact local time. */
export const exactTime = (at: Date): string => exact.format(at);

/** The time now, for a whole list: it changes every ten seconds. */
export function useSlowClock(): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const listen = () => setNow(new Date());
    listeners.add(listen);
    return () => void listeners.delete(listen);
  }, []);
  return now;
}

/** How long ago, with the exact local time as a tooltip. Copying the element's `datetime` gives UTC. */
export function Ago({ at }: { readonly at: string }) {
  const now = useSlowClock();
  const date = new Date(at);
  return (
    <time dateTime={at} title={exactTime(date)} className="whitespace-nowrap">
      {relativeTime(date, now)}
    </time>
  );
}
