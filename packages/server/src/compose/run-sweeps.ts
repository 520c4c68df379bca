import type { Logger } from "../platform/logger.ts";
import type { Sweep } from "../resources/resource.ts";

/**
 * One loop for all of them, spread over each second, so that they can share a connection to the database. A sweep never runs twice at
 * the same time, and a slow one holds up no other.
 */
export function runSweeps(sweeps: readonly Sweep[], logger: Logger) {
  const underWay = new Map<Sweep, Promise<void>>();
  const start = (sweep: Sweep): void => {
    if (underWay.has(sweep)) return;
    const ended = sweep
      .run()
      .catch((error: unknown) => logger.warn({ err: error, sweep: sweep.name }, "sweep failed, will retry"))
      .finally(() => underWay.delete(sweep));
    underWay.set(sweep, ended);
  };
  let turn = 0;
  const timer = setInterval(() => {
    const sweep = sweeps[turn % sweeps.length];
    const second = Math.floor(turn / sweeps.length) + 1;
    turn += 1;
    if (sweep && second % sweep.everySeconds === 0) start(sweep);
  }, 1000 / sweeps.length).unref();
  return {
    /** Returns when the work under way has ended. */
    stop: async (): Promise<void> => {
      clearInterval(timer);
      await Promise.all(underWay.values());
    },
  };
}
