import { classNames } from "../parts/class-names.ts";
import { formatCount } from "../parts/duration.ts";
import { keptSince } from "../parts/time-range.ts";
import { useMe } from "../session/session.ts";

/** The beginning of the logs and metrics that the organisation can read, if this range begins earlier. */
export const useKeptSince = (range: string | undefined): Date | undefined =>
  keptSince(range, useMe().limits.log_days, new Date());

interface KeptDaysProps {
  readonly range: string | undefined;
  readonly className?: string;
}

/** Explains why the beginning of a range has no logs and metrics. Empty if all of it can be read. */
export function KeptDays({ range, className }: KeptDaysProps) {
  const { limits } = useMe();
  if (useKeptSince(range) === undefined) return null;
  return (
    <p className={classNames("text-muted text-table", className)}>
      Logs and metrics are kept for {formatCount(limits.log_days)} days here; earlier ones are not shown.
    </p>
  );
}
