import * as restate from "@restatedev/restate-sdk";
import { memoryClears, memoryEmbeddings } from "../engine/services.ts";
import type { ClearKey } from "../memory/clear-queries.ts";
import type { MemoryPlace } from "../memory/memory-rules.ts";
import { untilItWorks } from "./until-it-works.ts";

/** Null: it is done. */
interface Progress {
  readonly againAfterMs: number | null;
}

export interface MemorySteps {
  readonly embed: (place: MemoryPlace, failures: number) => Promise<Progress>;
  readonly clear: (clear: ClearKey) => Promise<Progress>;
}

const options = { idempotencyRetention: { hours: 1 }, journalRetention: 0 };

/** Long work goes on in another invocation: a journal should stay short. */
const mostSteps = 100;

/** Goes on while it can: until it is done (null), has to wait (so many milliseconds), or has taken many steps (0). */
async function inSteps(context: restate.Context, name: string, step: () => Promise<Progress>): Promise<number | null> {
  for (let n = 1; n <= mostSteps; n++) {
    const { againAfterMs } = await context.run(`${name} ${n}`, step, untilItWorks);
    if (againAfterMs !== 0) return againAfterMs;
  }
  return 0;
}

function send(context: restate.Context, method: string, { organisationId, agentId }: MemoryPlace, delayMs = 0): void {
  context.genericSend<MemoryPlace>({
    service: memoryEmbeddings,
    method,
    key: `${organisationId}/${agentId}`,
    parameter: { organisationId, agentId },
    inputSerde: restate.serde.json as restate.Serde<MemoryPlace>,
    delay: delayMs,
  });
}

/** Tells the agent's memory that there is something to embed. */
export const askToEmbed = (context: restate.Context, place: MemoryPlace): void => send(context, "embed", place);

/** Nobody is held up while it waits for an embedder to come back: one retry is on its way, however many ask meanwhile. */
async function embed(context: restate.ObjectContext, place: MemoryPlace, steps: MemorySteps): Promise<void> {
  const failures = (await context.get<number>("failures")) ?? 0;
  const againAfterMs = await inSteps(context, "embed", () => steps.embed(place, failures));
  if (againAfterMs === null) return context.clear("failures");
  if (againAfterMs === 0) return send(context, "embed", place);
  if (await context.get<boolean>("retrying")) return;
  context.set("failures", failures + 1);
  context.set("retrying", true);
  send(context, "retry", place, againAfterMs);
}

/** One agent's memories are embedded by one at a time: nothing is embedded, and paid for, twice. */
export const memoryServices = (steps: MemorySteps) =>
  [
    restate.object({
      name: memoryEmbeddings,
      handlers: {
        embed: (context: restate.ObjectContext, place: MemoryPlace) => embed(context, place, steps),
        retry: (context: restate.ObjectContext, place: MemoryPlace) => {
          context.clear("retrying");
          return embed(context, place, steps);
        },
      },
      options,
    }),
    restate.object({
      name: memoryClears,
      handlers: {
        clear: async (context: restate.ObjectContext, clear: ClearKey) => {
          while ((await inSteps(context, "clear", () => steps.clear(clear))) !== null);
        },
      },
      options,
    }),
  ] as const;
