import * as restate from "@restatedev/restate-sdk";
import type { CanaryWatch, DeploymentKey } from "../engine/messages.ts";
import { canaryWatches, deploymentQueues } from "../engine/services.ts";
import type { DeploymentSteps } from "../resources/deployments/deployment-steps.ts";
import { retryStepUntilSuccess, serviceOptions } from "./retry-policies.ts";

/** API nodes of earlier releases call the engine before they commit. If the row never appears, the transaction was rolled back. */
const visibilityRetriesMs = [20, 50, 100, 500, 1000, 3000, 10_000, 20_000];

/** An unexpected error must not block the queue forever. */
const retryStepTenTimes = { ...retryStepUntilSuccess, maxRetryAttempts: 10 };
const checkFailedMessage =
  "It could not be checked. Deploy again; if that does not help, ask the operator of the server to look into its log.";

const check = (context: restate.ObjectContext, deployment: DeploymentKey, steps: DeploymentSteps) =>
  context
    .run("check", () => steps.check(deployment), retryStepTenTimes)
    .map((checked, failure) => (failure || checked === undefined ? { error: checkFailedMessage } : checked));

/** Longer queues continue in another invocation, to keep journals short. */
const maxActivated = 20;

async function listQueue(context: restate.ObjectContext, deployment: DeploymentKey, steps: DeploymentSteps) {
  for (const waitMs of visibilityRetriesMs) {
    const ids = await context.run("queue", () => steps.listQueue(deployment, maxActivated), retryStepUntilSuccess);
    if (ids !== "absent") return ids;
    await context.sleep(waitMs);
  }
  return [];
}

/** Deployments may reach the engine in another order than they were created in, so each is preceded by those created before it. */
async function activate(
  context: restate.ObjectContext,
  deployment: DeploymentKey,
  steps: DeploymentSteps,
): Promise<void> {
  const ids = await listQueue(context, deployment, steps);
  for (const id of ids) await activateOne(context, { ...deployment, id }, steps);
  if (ids.length === maxActivated && !ids.includes(deployment.id)) continueActivation(context, deployment);
}

async function activateOne(
  context: restate.ObjectContext,
  deployment: DeploymentKey,
  steps: DeploymentSteps,
): Promise<void> {
  const { error } = await check(context, deployment, steps);
  const { watchAfterMs } = await context.run(
    "activate",
    () => steps.activate(deployment, error),
    retryStepUntilSuccess,
  );
  if (watchAfterMs !== null) scheduleCanaryCheck(context, deployment, watchAfterMs);
}

function continueActivation(context: restate.Context, deployment: DeploymentKey): void {
  const { organisationId, agentId, environment } = deployment;
  context.genericSend<DeploymentKey>({
    service: deploymentQueues,
    method: "activate",
    key: `${organisationId}/${agentId}/${environment}`,
    parameter: deployment,
    inputSerde: restate.serde.json as restate.Serde<DeploymentKey>,
  });
}

function scheduleCanaryCheck(context: restate.Context, deployment: DeploymentKey, delayMs: number): void {
  const { organisationId, agentId, environment, id } = deployment;
  context.genericSend<DeploymentKey>({
    service: canaryWatches,
    method: "look",
    parameter: { organisationId, agentId, environment, id },
    inputSerde: restate.serde.json as restate.Serde<DeploymentKey>,
    delay: delayMs,
  });
}

/** Each check is its own invocation and schedules the next: a canary may be watched for days, and journals should stay short. */
async function checkCanary(context: restate.Context, watch: CanaryWatch, steps: DeploymentSteps): Promise<void> {
  const { againAfterMs } = await context.run("look", () => steps.watch(watch), retryStepUntilSuccess);
  if (againAfterMs !== null) scheduleCanaryCheck(context, watch, againAfterMs);
}

/** One queue for each environment: deployments to it become live in the order they were asked for. */
export const deploymentServices = (steps: DeploymentSteps) =>
  [
    restate.object({
      name: deploymentQueues,
      handlers: {
        activate: (context: restate.ObjectContext, deployment: DeploymentKey) => activate(context, deployment, steps),
      },
      options: serviceOptions,
    }),
    restate.service({
      name: canaryWatches,
      handlers: {
        look: (context: restate.Context, watch: CanaryWatch) => checkCanary(context, watch, steps),
      },
      options: serviceOptions,
    }),
  ] as const;
