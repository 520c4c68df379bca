import { housekeeping } from "../engine/services.ts";
import { createPeriodicService } from "./periodic-service.ts";
import { retryTickUntilSuccess } from "./retry-policies.ts";

export interface HousekeepingSteps {
  readonly now: () => Promise<number>;
  /** Creates partitions ahead of time and drops expired ones. */
  readonly partitions: () => Promise<void>;
  /** Resumes memory clears that were started and not finished. */
  readonly clears: () => Promise<void>;
}

export const housekeepingService = ({ now, partitions, clears }: HousekeepingSteps) =>
  createPeriodicService({
    name: housekeeping,
    everyMs: 3_600_000,
    now,
    tick: async (context) => {
      await context.run("partitions", partitions, retryTickUntilSuccess);
      await context.run("clears", clears, retryTickUntilSuccess);
    },
  });
