import * as restate from "@restatedev/restate-sdk";
import { cellKey } from "../engine/services.ts";
import { retryTickUntilSuccess, serviceOptions } from "./retry-policies.ts";

interface PeriodicService {
  readonly name: string;
  readonly everyMs: number;
  readonly now: () => Promise<number>;
  readonly tick: (context: restate.ObjectContext) => Promise<void>;
}

/** A periodic task of the whole cell, driven by the engine's durable timers: each tick schedules the next. */
export function createPeriodicService({ name, everyMs, now, tick }: PeriodicService) {
  const schedule = (context: restate.ObjectContext, atMs: number, delayMs: number): void => {
    context.set("next", atMs);
    context.genericSend<number>({
      service: name,
      method: "tick",
      key: cellKey,
      parameter: atMs,
      inputSerde: restate.serde.json as restate.Serde<number>,
      delay: delayMs,
    });
  };
  return restate.object({
    name,
    handlers: {
      /** Called by every worker when it starts. Schedules a tick if none is scheduled, or if the last one is overdue. */
      ensure: async (context: restate.ObjectContext) => {
        const next = (await context.get<number>("next")) ?? 0;
        const nowMs = await context.run("now", now, retryTickUntilSuccess);
        if (next + everyMs < nowMs) schedule(context, nowMs, 0);
      },
      tick: async (context: restate.ObjectContext, atMs: number) => {
        // Another tick was scheduled in its place.
        if ((await context.get<number>("next")) !== atMs) return;
        await tick(context);
        const nowMs = await context.run("now", now, retryTickUntilSuccess);
        schedule(context, nowMs + everyMs, everyMs);
      },
    },
    options: serviceOptions,
  });
}
