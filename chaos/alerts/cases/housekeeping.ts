import { startHousekeeping } from "@perch/testkit/installation/start-housekeeping.ts";
import type { AlertCase } from "../alert-case.ts";
import { endBlockingSessionOfTick, lockTable } from "../database-locks.ts";

/**
 * Comes first, because a worker that is started again has no times of housekeeping until the next hour, which is not
 * shortened, so any other case that restarts a worker fires this alert too.
 */
export const housekeepingCases: readonly AlertCase[] = [
  {
    fault: "a session holds a lock on a table that housekeeping reads, and the worker is started again",
    fires: {
      PerchHousekeepingStopped:
        "A step that ends with `canceling statement due to statement timeout` waits for a lock.",
    },
    maxSeconds: 150,
    cause: async (installation) => {
      await lockTable(installation, "partitioned_tables");
      await startHousekeeping(installation);
      await installation.worker.kill();
      await installation.worker.start();
      return { repair: () => endBlockingSessionOfTick(installation) };
    },
  },
];
