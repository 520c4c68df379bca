import * as restate from "@restatedev/restate-sdk";
import type { DeploymentKey } from "../engine/messages.ts";
import { canaryWatches, deploymentQueues } from "../engine/services.ts";
import type { DeploymentSteps } from "../resources/deployments/deployment-steps.ts";
import { retryStepUntilSuccess, serviceOptions } from "./retry-policies.ts";

/** The engine is called just before the deployment's transaction commits. If the row never appears, it was rolled back. */
const visibilityRetriesMs = [20, 50, 100, 500, 1000, 3000, 10_000, 20_000];

/** An unexpected error must not block the queue forever. */
const retryStepTenTimes = { ...retryStepUntilSuccess, maxRetryAttempts: 10 };
const checkFailedMessage =
  "It could not be checked. Deploy again; if that does not help, ask whoever runs the server to look into its log.";

const check = (context: restate.ObjectContext, deployment: DeploymentKey, steps: DeploymentSteps) =>
  context
    .run("check", () => steps.check(deployment), retryStepTenTimes)
    .map((checked, failure) => (failure || checked === undefined ? { error: checkFailedMessage } : checked));

async function activate(
  context: restate.ObjectContext,
  deployment: DeploymentKey,
  steps: DeploymentSteps,
): Promise<void> {
  for (const waitMs of visibilityRetriesMs) {
    const checked = await check(context, deployment, steps);
    if (checked === "absent") {
      await context.sleep(waitMs);
      continue;
    }
    const { watchAfterMs } = await context.run(
      "activate",
      () => steps.activate(deployment, checked.error),
      retryStepUntilSuccess,
    );
    if (watchAfterMs !== null) scheduleCanaryCheck(context, deployment, watchAfterMs);
    return;
  }
}

function scheduleCanaryCheck(context: restate.Context, deployment: DeploymentKey, delayMs: number): void {
  context.genericSend<DeploymentKey>({
    service: canaryWatches,
    method: "look",
    parameter: deployment,
    inputSerde: restate.serde.json as restate.Serde<DeploymentKey>,
    delay: delayMs,
  });
}

/** Each check is its own invocation and schedules the next: a canary may be watched for days, and journals should stay short. */
async function checkCanary(context: restate.Context, deployment: DeploymentKey, steps: DeploymentSteps): Promise<void> {
  const { againAfterMs } = await context.run("look", () => steps.watch(deployment), retryStepUntilSuccess);
  if (againAfterMs !== null) scheduleCanaryCheck(context, deployment, againAfterMs);
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
        look: (context: restate.Context, deployment: DeploymentKey) => checkCanary(context, deployment, steps),
      },
      options: serviceOptions,
    }),
  ] as const;
