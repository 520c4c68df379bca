/** Ends everything that a benchmark has started, in reverse order. */
export interface Stops {
  readonly add: (stop: () => Promise<unknown>) => void;
  readonly all: () => Promise<void>;
}

/** An interrupted benchmark also stops what it started, for example the processes and files of its own PostgreSQL. */
export function createStops(): Stops {
  const stops: (() => Promise<unknown>)[] = [];
  let stopped: Promise<void> | undefined;
  const stopEach = async (): Promise<void> => {
    for (let stop = stops.pop(); stop; stop = stops.pop()) await stop().catch((error: unknown) => console.error(error));
  };
  // Runs only once, because an interruption and the failure that it causes both wait for the same end.
  const stopAll = (): Promise<void> => {
    stopped ??= stopEach();
    return stopped;
  };
  const endProcess = () => void stopAll().finally(() => process.exit(130));
  process.once("SIGINT", endProcess).once("SIGTERM", endProcess);
  return {
    add: (stop) => void stops.push(stop),
    all: () => stopAll().finally(() => process.off("SIGINT", endProcess).off("SIGTERM", endProcess)),
  };
}
