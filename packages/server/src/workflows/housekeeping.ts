import * as restate from "@restatedev/restate-sdk";
import { housekeeping, theCell } from "../engine/services.ts";

export interface HousekeepingSteps {
  readonly now: () => Promise<number>;
  /** Makes partitions ahead and drops what is past. */
  readonly partitions: () => Promise<void>;
  /** Goes on with what somebody began to clear and nobody finished. */
  readonly clears: () => Promise<void>;
}

const untilItWorks = { initialRetryInterval: 1000, retryIntervalFactor: 2, maxRetryInterval: 60_000 };
const everyMs = 3_600_000;
const options = { idempotencyRetention: { hours: 1 }, journalRetention: 0 };

function schedule(context: restate.ObjectContext, atMs: number, delayMs: number): void {
  context.set("next", atMs);
  context.genericSend<number>({
    service: housekeeping,
    method: "tick",
    key: theCell,
    parameter: atMs,
    inputSerde: restate.serde.json as restate.Serde<number>,
    delay: delayMs,
  });
}

/** One chain of ticks for the whole cell, kept by the engine's timers: no process has to live for it. */
export const housekeepingService = (steps: HousekeepingSteps) =>
  restate.object({
    name: housekeeping,
    handlers: {
      /** Every worker says so when it starts. Begins the chain if there is none, or if it broke. */
      ensure: async (context: restate.ObjectContext) => {
        const next = (await context.get<number>("next")) ?? 0;
        const nowMs = await context.run("now", steps.now, untilItWorks);
        if (next + everyMs < nowMs) schedule(context, nowMs, 0);
      },
      tick: async (context: restate.ObjectContext, atMs: number) => {
        // Another chain took over.
        if ((await context.get<number>("next")) !== atMs) return;
        await context.run("partitions", steps.partitions, untilItWorks);
        await context.run("clears", steps.clears, untilItWorks);
        const nowMs = await context.run("now", steps.now, untilItWorks);
        schedule(context, nowMs + everyMs, everyMs);
      },
    },
    options,
  });
