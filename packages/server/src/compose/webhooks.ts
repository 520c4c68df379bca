import type { Config } from "../config/config.ts";
import { createFindInvocation } from "../engine/find-invocation.ts";
import { createGuardedClient } from "../outbound/guarded-client.ts";
import { version } from "../platform/version.ts";
import { createFindDeliveredLink } from "../resources/approvals/delivered-link.ts";
import { type CheckUrl, createUrlCheck } from "../resources/webhooks/check-url.ts";
import { createDeliverySteps } from "../resources/webhooks/delivery-steps.ts";
import { createEndpointLimits } from "../resources/webhooks/endpoint-limits.ts";
import { createNameAttempt } from "../resources/webhooks/forgotten-attempts.ts";
import { createPostEvent } from "../resources/webhooks/post-event.ts";
import { deliveryServices } from "../workflows/deliver-webhook.ts";
import { type Core, depsOf } from "./core.ts";

/** A delivery that old is not under way for the first time. */
const forgottenAfterReconciles = 2;

const loopback = ["127.0.0.0/8", "::1"];

/** Which addresses webhooks may have. */
const webhookAddressPolicy = ({ webhookAllowLoopback: allowHttp, outboundAllowedPrivateRanges }: Config) => ({
  allowHttp,
  allowedRanges: allowHttp ? [...outboundAllowedPrivateRanges, ...loopback] : outboundAllowedPrivateRanges,
});

/** Checks addresses of webhooks when they are registered. */
export const composeUrlCheck = ({ config, outbound }: Core): CheckUrl =>
  createUrlCheck({ ...webhookAddressPolicy(config), own: outbound.ownAddresses });

/** Deliveries use their own client, so that tools and remote agents do not compete with them for connections. */
export function composeDeliveries(core: Core) {
  const { config, createRedactor, db, logger, nowMs, ownAddresses, resolveCall, telemetry, webhookSecrets } =
    depsOf(core);
  const { allowHttp, allowedRanges } = webhookAddressPolicy(config);
  const timeoutSeconds = config.webhookTimeoutSeconds;
  const client = createGuardedClient({
    allowedRanges,
    own: ownAddresses,
    timeoutMs: timeoutSeconds * 1000,
    maxResponseBytes: 64 * 1024,
  });
  const steps = createDeliverySteps({
    db,
    limits: createEndpointLimits({ now: nowMs, random: Math.random, share: core.shares.of.deliveries }),
    resolveCall,
    findLink: createFindDeliveredLink({ ...core.keys, db, createRedactor, publicUrl: config.publicUrl }),
    postEvent: createPostEvent({ fetch: client.fetch, allowHttp, timeoutSeconds, now: nowMs }),
    nameAttempt: createNameAttempt({
      findInvocation: createFindInvocation(config.ingressUrls),
      logger,
      now: nowMs,
      minAgeSeconds: config.reconcileSeconds * forgottenAfterReconciles,
    }),
    webhookSecrets,
    retrySeconds: config.webhookRetryDelaySeconds,
    telemetry,
    version,
    logger,
    now: nowMs,
  });
  const sweep = { now: async () => nowMs(), everyMs: config.webhookSweepIntervalSeconds * 1000 };
  return { services: deliveryServices(steps, sweep), close: client.close };
}
