import * as restate from "@restatedev/restate-sdk";
import { theCell } from "../engine/services.ts";

interface Chain {
  readonly name: string;
  readonly everyMs: number;
  readonly now: () => Promise<number>;
  readonly tick: (context: restate.ObjectContext) => Promise<void>;
}

const untilItWorks = { initialRetryInterval: 1000, retryIntervalFactor: 2, maxRetryInterval: 60_000 };
const options = { idempotencyRetention: { hours: 1 }, journalRetention: 0 };

/** One chain of ticks for the whole cell, kept by the engine's timers: no process has to live for it. */
export function tickingChain({ name, everyMs, now, tick }: Chain) {
  const schedule = (context: restate.ObjectContext, atMs: number, delayMs: number): void => {
    context.set("next", atMs);
    context.genericSend<number>({
      service: name,
      method: "tick",
      key: theCell,
      parameter: atMs,
      inputSerde: restate.serde.json as restate.Serde<number>,
      delay: delayMs,
    });
  };
  return restate.object({
    name,
    handlers: {
      /** Every worker says so when it starts. Begins the chain if there is none, or if it broke. */
      ensure: async (context: restate.ObjectContext) => {
        const next = (await context.get<number>("next")) ?? 0;
        const nowMs = await context.run("now", now, untilItWorks);
        if (next + everyMs < nowMs) schedule(context, nowMs, 0);
      },
      tick: async (context: restate.ObjectContext, atMs: number) => {
        // Another chain took over.
        if ((await context.get<number>("next")) !== atMs) return;
        await tick(context);
        const nowMs = await context.run("now", now, untilItWorks);
        schedule(context, nowMs + everyMs, everyMs);
      },
    },
    options,
  });
}
