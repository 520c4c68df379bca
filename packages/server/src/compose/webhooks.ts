import type { Config } from "../config.ts";
import { createGuardedClient } from "../platform/guarded-client.ts";
import { version } from "../version.ts";
import { createDeliverySteps } from "../webhooks/delivery-steps.ts";
import { createEndpointLimits } from "../webhooks/endpoint-limits.ts";
import { createPostEvent } from "../webhooks/post-event.ts";
import { deliveryServices } from "../workflows/deliver-webhook.ts";
import type { Core } from "./core.ts";

const loopback = ["127.0.0.0/8", "::1"];

/** Where webhooks may be. */
export const webhookReach = ({ webhookAllowHttp: allowHttp, outboundPrivateRanges }: Config) => ({
  allowHttp,
  allowedRanges: allowHttp ? [...outboundPrivateRanges, ...loopback] : outboundPrivateRanges,
});

/** What delivers events: its own client, so that no tool or remote agent competes with it for connections. */
export function composeDeliveries({ config, db, logger, nowMs, telemetry, webhookSecrets }: Core) {
  const { allowHttp, allowedRanges } = webhookReach(config);
  const timeoutSeconds = config.webhookTimeoutSeconds;
  const client = createGuardedClient({
    allowedRanges,
    timeoutMs: timeoutSeconds * 1000,
    maxResponseBytes: 64 * 1024,
  });
  const steps = createDeliverySteps({
    db,
    limits: createEndpointLimits({ now: nowMs, random: Math.random }),
    postEvent: createPostEvent({ fetch: client.fetch, allowHttp, timeoutSeconds, now: nowMs }),
    webhookSecrets,
    retrySeconds: config.webhookRetrySeconds,
    telemetry,
    version,
    logger,
    now: nowMs,
  });
  const sweep = { now: async () => nowMs(), everyMs: config.webhookSweepSeconds * 1000 };
  return { services: deliveryServices(steps, sweep), close: client.close };
}
