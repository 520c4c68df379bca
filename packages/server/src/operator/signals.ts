import { constants } from "node:os";

const signals = ["SIGTERM", "SIGINT"] as const;

/** With the exit code that a shell gives to a process that died of a signal. */
const endAtOnce = (signal: (typeof signals)[number]): never => process.exit(128 + constants.signals[signal]);

/** In a container the process has the id 1, and would ignore a signal that it does not handle. */
export function endOnSignals(): void {
  for (const signal of signals) process.on(signal, endAtOnce);
}

/** Ends the process in order. */
export type Stop = (cause: NodeJS.Signals | "order") => Promise<void>;

/** From now on, another process says when this one ends. */
export function ignoreSignals(): void {
  for (const signal of signals) process.removeAllListeners(signal).on(signal, () => undefined);
}

/** From now on, the first signal calls this instead. A second one ends the process at once. */
export function stopOnSignals(stop: (signal: NodeJS.Signals) => Promise<void>): void {
  for (const signal of signals) {
    process.off(signal, endAtOnce);
    process.once(signal, () => {
      endOnSignals();
      void stop(signal);
    });
  }
}
