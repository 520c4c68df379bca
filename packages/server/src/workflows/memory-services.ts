import * as restate from "@restatedev/restate-sdk";
import type { ClearKey } from "../engine/messages.ts";
import { memoryClears, memoryEmbeddings } from "../engine/services.ts";
import type { AgentKey } from "../platform/agent-key.ts";
import { retryStepUntilSuccess, serviceOptions } from "./retry-policies.ts";

/** Null: it is done. */
interface StepResult {
  readonly againAfterMs: number | null;
}

export interface MemorySteps {
  readonly embed: (agent: AgentKey, failures: number) => Promise<StepResult>;
  readonly clear: (clear: ClearKey) => Promise<StepResult>;
}

/** Longer work continues in another invocation, to keep journals short. */
const maxSteps = 100;

/** Repeats the step until it is done (null), has to wait (milliseconds), or has run `maxSteps` times (0). */
async function runUntilDoneOrWaiting(
  context: restate.Context,
  name: string,
  step: () => Promise<StepResult>,
): Promise<number | null> {
  for (let n = 1; n <= maxSteps; n++) {
    const { againAfterMs } = await context.run(`${name} ${n}`, step, retryStepUntilSuccess);
    if (againAfterMs !== 0) return againAfterMs;
  }
  return 0;
}

function sendToEmbeddings(
  context: restate.Context,
  method: "embed" | "retry",
  { organisationId, agentId }: AgentKey,
  delayMs = 0,
): void {
  context.genericSend<AgentKey>({
    service: memoryEmbeddings,
    method,
    key: `${organisationId}/${agentId}`,
    parameter: { organisationId, agentId },
    inputSerde: restate.serde.json as restate.Serde<AgentKey>,
    delay: delayMs,
  });
}

/** Schedules embedding of the agent's new memories. */
export const sendEmbed = (context: restate.Context, agent: AgentKey): void => sendToEmbeddings(context, "embed", agent);

/** While the embedder is down, callers are not blocked: one delayed retry is scheduled, however many calls arrive. */
async function embed(context: restate.ObjectContext, agent: AgentKey, steps: MemorySteps): Promise<void> {
  const failures = (await context.get<number>("failures")) ?? 0;
  const againAfterMs = await runUntilDoneOrWaiting(context, "embed", () => steps.embed(agent, failures));
  if (againAfterMs === null) return context.clear("failures");
  if (againAfterMs === 0) return sendToEmbeddings(context, "embed", agent);
  if (await context.get<boolean>("retrying")) return;
  context.set("failures", failures + 1);
  context.set("retrying", true);
  sendToEmbeddings(context, "retry", agent, againAfterMs);
}

/** The rest of a long clear is another invocation, which begins when this one has ended. */
function continueClear(context: restate.Context, clear: ClearKey): void {
  context.genericSend<ClearKey>({
    service: memoryClears,
    method: "clear",
    key: clear.id,
    parameter: clear,
    inputSerde: restate.serde.json as restate.Serde<ClearKey>,
  });
}

/** Embeddings of one agent run one at a time: nothing is embedded, and paid for, twice. */
export const memoryServices = (steps: MemorySteps) =>
  [
    restate.object({
      name: memoryEmbeddings,
      handlers: {
        embed: (context: restate.ObjectContext, agent: AgentKey) => embed(context, agent, steps),
        retry: (context: restate.ObjectContext, agent: AgentKey) => {
          context.clear("retrying");
          return embed(context, agent, steps);
        },
      },
      options: serviceOptions,
    }),
    restate.object({
      name: memoryClears,
      handlers: {
        clear: async (context: restate.ObjectContext, clear: ClearKey) => {
          const againAfterMs = await runUntilDoneOrWaiting(context, "clear", () => steps.clear(clear));
          if (againAfterMs !== null) continueClear(context, clear);
        },
      },
      options: serviceOptions,
    }),
  ] as const;
