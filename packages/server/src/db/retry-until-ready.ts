import { setTimeout as sleep } from "node:timers/promises";

interface Wait<T> {
  /** How long to try again; 0 is one attempt. */
  readonly seconds: number;
  readonly attempt: () => Promise<T>;
  /** The missing part, in a sentence. Undefined for a failure that waiting does not fix, which is thrown at once. */
  readonly explain: (error: unknown) => string | undefined;
  /** Called when the waiting begins, when its reason changes, and every five seconds. */
  readonly onWaiting: (reason: string, waitedSeconds: number) => void;
}

const pauseMs = 500;
const reportEveryMs = 5000;
/** Reasons may alternate, while a server starts and its name begins to resolve. */
const minReportPauseMs = 1000;

/** Attempts it until it succeeds, or until the time is over: then the last failure is thrown. */
export async function retryUntilReady<T>({ seconds, attempt, explain, onWaiting }: Wait<T>): Promise<T> {
  const startedAt = performance.now();
  const last = { reason: "the first attempt has not ended yet.", at: Number.NEGATIVE_INFINITY };
  const report = (reason: string): void => {
    const now = performance.now();
    if (now - last.at < (reason === last.reason ? reportEveryMs : minReportPauseMs)) return;
    Object.assign(last, { reason, at: now });
    onWaiting(reason, Math.round((now - startedAt) / 1000));
  };
  // An attempt may itself take seconds.
  const timer = setInterval(() => report(last.reason), 1000).unref();
  if (seconds === 0) clearInterval(timer);
  try {
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        const reason = explain(error);
        if (reason === undefined || performance.now() - startedAt >= seconds * 1000) throw error;
        report(reason);
      }
      await sleep(pauseMs);
    }
  } finally {
    clearInterval(timer);
  }
}
