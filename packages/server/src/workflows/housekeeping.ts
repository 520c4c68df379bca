import { housekeeping } from "../engine/services.ts";
import { tickingChain } from "./ticking-chain.ts";

export interface HousekeepingSteps {
  readonly now: () => Promise<number>;
  /** Makes partitions ahead and drops what is past. */
  readonly partitions: () => Promise<void>;
  /** Goes on with what somebody began to clear and nobody finished. */
  readonly clears: () => Promise<void>;
}

const untilItWorks = { initialRetryInterval: 1000, retryIntervalFactor: 2, maxRetryInterval: 60_000 };

export const housekeepingService = ({ now, partitions, clears }: HousekeepingSteps) =>
  tickingChain({
    name: housekeeping,
    everyMs: 3_600_000,
    now,
    tick: async (context) => {
      await context.run("partitions", partitions, untilItWorks);
      await context.run("clears", clears, untilItWorks);
    },
  });
