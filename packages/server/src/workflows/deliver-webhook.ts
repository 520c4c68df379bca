import * as restate from "@restatedev/restate-sdk";
import { webhookDeliveries, webhookSweep } from "../engine/services.ts";
import { type DeliverySteps, type DeliveryTask, mostClaimed } from "../webhooks/delivery-steps.ts";
import { tickingChain } from "./ticking-chain.ts";
import { untilItWorks } from "./until-it-works.ts";

const options = { idempotencyRetention: { hours: 1 }, journalRetention: 0 };

/** Named by its attempt: whoever hands it over, and however often, it is under way once. */
export function sendDelivery(context: restate.Context, task: DeliveryTask, delayMs = 0): void {
  context.genericSend<DeliveryTask>({
    service: webhookDeliveries,
    method: "deliver",
    parameter: task,
    inputSerde: restate.serde.json as restate.Serde<DeliveryTask>,
    idempotencyKey: `${task.id}/${task.attempt}/${task.deferred}`,
    delay: delayMs,
  });
}

/**
 * One attempt, which asks for the next: a delivery may take days, and no journal, nor the release it began on, should have to last
 * that long.
 */
async function deliver(context: restate.Context, task: DeliveryTask, steps: DeliverySteps): Promise<void> {
  const result = await context.run(`attempt ${task.attempt}`, () => steps.attempt(task), untilItWorks);
  const next =
    "unrecorded" in result
      ? await context.run("record", () => steps.record(task, result.unrecorded), untilItWorks)
      : result.next;
  if (next) sendDelivery(context, next.task, next.afterMs);
}

const mostRounds = 20;

/** Hands over what is due. What is left over, the sweep finds at its next turn. */
async function dispatch(context: restate.Context, steps: DeliverySteps): Promise<void> {
  for (let round = 1; round <= mostRounds; round++) {
    const due = await context.run(`claim ${round}`, steps.claimDue, untilItWorks);
    for (const task of due) sendDelivery(context, task);
    if (due.length < mostClaimed) return;
  }
}

interface SweepOptions {
  readonly now: () => Promise<number>;
  readonly everyMs: number;
}

export const deliveryServices = (steps: DeliverySteps, { now, everyMs }: SweepOptions) =>
  [
    restate.service({
      name: webhookDeliveries,
      handlers: {
        deliver: (context: restate.Context, task: DeliveryTask) => deliver(context, task, steps),
        dispatch: (context: restate.Context) => dispatch(context, steps),
      },
      options,
    }),
    tickingChain({ name: webhookSweep, everyMs, now, tick: (context) => dispatch(context, steps) }),
  ] as const;
