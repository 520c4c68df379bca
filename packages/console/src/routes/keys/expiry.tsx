import { Ago, useSlowClock } from "../../parts/ago.tsx";

const soonMs = 7 * 86_400_000;

/** The time when it ends, highlighted within the last week. */
export function Expiry({ at }: { readonly at: string }) {
  const left = Date.parse(at) - useSlowClock().getTime();
  const isSoon = left > 0 && left < soonMs;
  return (
    <span className={isSoon ? "text-warning" : undefined}>
      <Ago at={at} />
      {isSoon && <span className="sr-only"> (soon)</span>}
    </span>
  );
}
