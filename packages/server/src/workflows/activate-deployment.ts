import * as restate from "@restatedev/restate-sdk";
import type { DeploymentKey, DeploymentSteps } from "../deployments/activation.ts";
import { canaryWatches, deploymentQueues } from "../engine/services.ts";
import { untilItWorks } from "./until-it-works.ts";

const options = { idempotencyRetention: { hours: 1 }, journalRetention: 0 };

/** The engine hears of a deployment just before its transaction commits. If it never does, it was undone. */
const visibleAfterMs = [20, 50, 100, 500, 1000, 3000, 10_000, 20_000];

/** What nobody foresaw must not hold up the queue for ever. */
const forAWhile = { ...untilItWorks, maxRetryAttempts: 10 };
const uncheckable =
  "It could not be checked. Deploy again; if that does not help, ask whoever runs the server to look into its log.";

const check = (context: restate.ObjectContext, deployment: DeploymentKey, steps: DeploymentSteps) =>
  context
    .run("check", () => steps.check(deployment), forAWhile)
    .map((checked, failure) => (failure || checked === undefined ? { error: uncheckable } : checked));

async function activate(
  context: restate.ObjectContext,
  deployment: DeploymentKey,
  steps: DeploymentSteps,
): Promise<void> {
  for (const waitMs of visibleAfterMs) {
    const checked = await check(context, deployment, steps);
    if (checked === "absent") {
      await context.sleep(waitMs);
      continue;
    }
    const { watchAfterMs } = await context.run(
      "activate",
      () => steps.activate(deployment, checked.error),
      untilItWorks,
    );
    if (watchAfterMs !== null) lookLater(context, deployment, watchAfterMs);
    return;
  }
}

function lookLater(context: restate.Context, deployment: DeploymentKey, delayMs: number): void {
  context.genericSend<DeploymentKey>({
    service: canaryWatches,
    method: "look",
    parameter: deployment,
    inputSerde: restate.serde.json as restate.Serde<DeploymentKey>,
    delay: delayMs,
  });
}

/** Each look is an invocation of its own that asks for the next: a canary may be watched for days, a journal should not be. */
async function look(context: restate.Context, deployment: DeploymentKey, steps: DeploymentSteps): Promise<void> {
  const { againAfterMs } = await context.run("look", () => steps.watch(deployment), untilItWorks);
  if (againAfterMs !== null) lookLater(context, deployment, againAfterMs);
}

/** One queue for each environment: deployments to it become live in the order they were asked for. */
export const deploymentServices = (steps: DeploymentSteps) =>
  [
    restate.object({
      name: deploymentQueues,
      handlers: {
        activate: (context: restate.ObjectContext, deployment: DeploymentKey) => activate(context, deployment, steps),
      },
      options,
    }),
    restate.service({
      name: canaryWatches,
      handlers: { look: (context: restate.Context, deployment: DeploymentKey) => look(context, deployment, steps) },
      options,
    }),
  ] as const;
