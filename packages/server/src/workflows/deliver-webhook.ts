import * as restate from "@restatedev/restate-sdk";
import { webhookDeliveries, webhookSweep } from "../engine/services.ts";
import { type DeliverySteps, mayHaveMoreDue } from "../resources/webhooks/delivery-steps.ts";
import { attemptKey, type DeliveryTask } from "../resources/webhooks/delivery-task.ts";
import { createPeriodicService } from "./periodic-service.ts";
import { retryStepUntilSuccess, serviceOptions } from "./retry-policies.ts";

function sendDelivery(context: restate.Context, task: DeliveryTask, delayMs = 0): void {
  context.genericSend<DeliveryTask>({
    service: webhookDeliveries,
    method: "deliver",
    parameter: task,
    inputSerde: restate.serde.json as restate.Serde<DeliveryTask>,
    idempotencyKey: attemptKey(task),
    delay: delayMs,
  });
}

/** One event may go to a thousand webhooks: the sweep sends those beyond this number, in turn with those of other organisations. */
const maxSentWithRun = 16;

/** Hands the deliveries of a run's end to the engine. The run does not wait for any of them. */
export function sendDeliveriesOfRun(
  context: restate.Context,
  organisationId: string,
  toDeliver: readonly Pick<DeliveryTask, "id" | "webhookId">[],
): void {
  for (const { id, webhookId } of toDeliver.slice(0, maxSentWithRun))
    sendDelivery(context, { organisationId, id, webhookId, attempt: 1, deferred: 0 });
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

/** Sends a batch of the deliveries that are due, of each organisation in turn; whether there may be more. */
async function dispatch(context: restate.Context, steps: DeliverySteps, round = 1): Promise<boolean> {
  const due = await context.run(`claim ${round}`, steps.claimDue, retryStepUntilSuccess);
  for (const task of due) sendDelivery(context, task);
  return mayHaveMoreDue(due);
}

const maxRounds = 20;
/** Between batches, so that a backlog leaves the engine time for runs. */
const roundPauseMs = 1000;

/** The next sweep finds the rest. */
async function sweep(context: restate.Context, steps: DeliverySteps): Promise<void> {
  for (let round = 1; await dispatch(context, steps, round); round++) {
    if (round === maxRounds) return;
    await context.sleep(roundPauseMs);
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
        dispatch: async (context: restate.Context) => void (await dispatch(context, steps)),
      },
      options: serviceOptions,
    }),
    createPeriodicService({ name: webhookSweep, everyMs, now, tick: (context) => sweep(context, steps) }),
  ] as const;
