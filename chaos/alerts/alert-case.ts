import type { Installation } from "./installation.ts";

export interface Fault {
  /** Repairs the fault as the runbook describes. */
  readonly repair: () => unknown;
  /** Ends whatever has to continue until the alerts have cleared, such as load. */
  readonly end?: () => unknown;
}

/** A fault, and the alerts that it must fire. */
export interface AlertCase {
  readonly fault: string;
  /** Each with the words of its runbook entry that `repair` follows. */
  readonly fires: Readonly<Record<string, string>>;
  /** CI causes it too. */
  readonly isShort?: true;
  /** Until all of its alerts fire. */
  readonly maxSeconds?: number;
  readonly cause: (installation: Installation) => Promise<Fault>;
}

/** Does the same again and again, whether or not the last one has ended or failed. The function that it returns ends it. */
export function repeat(everyMs: number, work: () => Promise<unknown>): () => Promise<void> {
  const underWay = new Set<Promise<unknown>>();
  const timer = setInterval(() => {
    const one = work()
      .catch(() => undefined)
      .finally(() => underWay.delete(one));
    underWay.add(one);
  }, everyMs);
  return async () => {
    clearInterval(timer);
    await Promise.all(underWay);
  };
}
