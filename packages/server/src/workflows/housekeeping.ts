import { housekeeping } from "../engine/services.ts";
import type { Step } from "../resources/resource.ts";
import { createPeriodicService } from "./periodic-service.ts";
import { retryTickUntilSuccess } from "./retry-policies.ts";

interface HousekeepingOptions {
  readonly now: () => Promise<number>;
  readonly steps: readonly Step[];
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
