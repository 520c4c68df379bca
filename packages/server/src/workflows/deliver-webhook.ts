import * as restate from "@restatedev/restate-sdk";
import { webhookDeliveries, webhookSweep } from "../engine/services.ts";
import { type DeliverySteps, type DeliveryTask, maxClaimed } from "../resources/webhooks/delivery-steps.ts";
import { createPeriodicService } from "./periodic-service.ts";
import { retryStepUntilSuccess, serviceOptions } from "./retry-policies.ts";

/** The attempt is the idempotency key: however often it is sent, it runs once. */
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
 * One attempt, which schedules the next: a delivery may take days, and neither a journal nor the release it began on should have to
 * last that long.
 */
async function deliver(context: restate.Context, task: DeliveryTask, steps: DeliverySteps): Promise<void> {
  const result = await context.run(`attempt ${task.attempt}`, () => steps.attempt(task), retryStepUntilSuccess);
  const next =
    "unrecorded" in result
      ? await context.run("record", () => steps.record(task, result.unrecorded), retryStepUntilSuccess)
      : result.next;
  if (next) sendDelivery(context, next.task, next.afterMs);
}

const maxRounds = 20;

/** Sends the deliveries that are due. The next sweep finds the rest. */
async function dispatch(context: restate.Context, steps: DeliverySteps): Promise<void> {
  for (let round = 1; round <= maxRounds; round++) {
    const due = await context.run(`claim ${round}`, steps.claimDue, retryStepUntilSuccess);
    for (const task of due) sendDelivery(context, task);
    if (due.length < maxClaimed) return;
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
      options: serviceOptions,
    }),
    createPeriodicService({ name: webhookSweep, everyMs, now, tick: (context) => dispatch(context, steps) }),
  ] as const;
