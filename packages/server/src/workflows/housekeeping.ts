import { housekeeping } from "../engine/services.ts";
import { createPeriodicService } from "./periodic-service.ts";
import { retryTickUntilSuccess } from "./retry-policies.ts";

export interface HousekeepingStep {
  readonly name: string;
  /** Bounded: what it leaves, the next tick does. */
  readonly run: () => Promise<void>;
}

interface HousekeepingOptions {
  readonly now: () => Promise<number>;
  readonly steps: readonly HousekeepingStep[];
}

export const housekeepingService = ({ now, steps }: HousekeepingOptions) =>
  createPeriodicService({
    name: housekeeping,
    everyMs: 3_600_000,
    now,
    tick: async (context) => {
      for (const { name, run } of steps) await context.run(name, run, retryTickUntilSuccess);
    },
  });
