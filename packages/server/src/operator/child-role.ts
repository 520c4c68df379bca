import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Order, Report } from "./supervised.ts";

/** A role in a process of its own, which this one starts, asks and stops. */
export interface ChildRole {
  readonly name: string;
  /** Resolves when it has started. Rejects if it ends before, when it has said why. */
  readonly start: () => Promise<void>;
  /** Resolves when the process ends, at once if it has none. */
  readonly ended: () => Promise<void>;
  /** Lets it finish its work. Resolves to whether it ended in order. */
  readonly stop: () => Promise<boolean>;
  /** Empty while it has no process, or if that does not answer. */
  readonly readMetrics: () => Promise<string>;
  /** How its last process ended. */
  readonly end: () => { readonly code: number | null; readonly signal: NodeJS.Signals | null };
}

const metricsLimitMs = 5000;

export function createChildRole(name: string, env: NodeJS.ProcessEnv): ChildRole {
  let child: ChildProcess | undefined;
  let hasStarted = false;
  const isRunning = (): boolean => child?.exitCode === null && child.signalCode === null;
  const tell = (perch: Order["perch"]): void => {
    // A process that is gone is noticed by its end.
    if (child?.connected) child.send({ perch } satisfies Order, () => undefined);
  };
  const ended = async (): Promise<void> => {
    if (child && isRunning()) await once(child, "exit");
  };

  /** The next report of this kind; undefined if the process ends before. */
  const reportOf = async <Kind extends Report["perch"]>(kind: Kind, limit?: AbortSignal) => {
    if (!child) return undefined;
    const over = new AbortController();
    const from = child;
    const options = { signal: limit ? AbortSignal.any([over.signal, limit]) : over.signal };
    const heard = async (): Promise<Extract<Report, { perch: Kind }>> => {
      for (;;) {
        const [report] = (await once(from, "message", options)) as [Report];
        if (report.perch === kind) return report as Extract<Report, { perch: Kind }>;
      }
    };
    const gone = once(from, "exit", options).then(() => undefined);
    return Promise.race([heard(), gone]).finally(() => over.abort());
  };

  return {
    name,
    start: async () => {
      hasStarted = false;
      // In a group of its own: a terminal's signals reach only the process that started it.
      child = fork(process.argv[1] ?? "", [name, "--supervised"], { env, detached: true });
      hasStarted = (await reportOf("started")) !== undefined;
      if (!hasStarted) throw new Error(`The process of ${name} ended before it had started`);
    },
    ended,
    stop: async () => {
      if (!isRunning()) return true;
      // One that is starting has nothing to finish, and may or may not listen yet.
      if (hasStarted) tell("stop");
      else child?.kill("SIGKILL");
      await ended();
      return !hasStarted || child?.exitCode === 0;
    },
    readMetrics: async () => {
      if (!hasStarted || !isRunning()) return "";
      const answer = reportOf("metrics", AbortSignal.timeout(metricsLimitMs));
      tell("metrics");
      return answer.then(
        (report) => report?.text ?? "",
        () => "",
      );
    },
    end: () => ({ code: child?.exitCode ?? null, signal: child?.signalCode ?? null }),
  };
}
