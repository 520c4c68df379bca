import { housekeeping } from "../engine/services.ts";
import { createPeriodicService } from "./periodic-service.ts";
import { retryTickUntilSuccess } from "./retry-policies.ts";

export interface HousekeepingSteps {
  readonly now: () => Promise<number>;
  /** Creates partitions ahead of time and drops expired ones. */
  readonly partitions: () => Promise<void>;
  /** Resumes memory clears that were started and not finished. */
  readonly clears: () => Promise<void>;
  /** Makes the engine forget releases that nothing needs any longer. */
  readonly releases: () => Promise<void>;
}

export const housekeepingService = ({ now, partitions, clears, releases }: HousekeepingSteps) =>
  createPeriodicService({
    name: housekeeping,
    everyMs: 3_600_000,
    now,
    tick: async (context) => {
      await context.run("partitions", partitions, retryTickUntilSuccess);
      await context.run("clears", clears, retryTickUntilSuccess);
      await context.run("releases", releases, retryTickUntilSuccess);
    },
  });
