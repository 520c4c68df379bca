import { Counter, type Registry } from "prom-client";

const webhookOutcomes = ["delivered", "http_error", "timeout", "blocked", "unreachable", "deferred"] as const;

export interface WebhookMetrics {
  readonly webhookAttempted: (outcome: (typeof webhookOutcomes)[number]) => void;
}

export function createWebhookMetrics(registry: Registry): WebhookMetrics {
  const attempts = new Counter({
    name: "perch_webhook_attempts_total",
    help: "Webhook delivery attempts by outcome. http_error: the receiver answered with a status other than 2xx. blocked: the address is not allowed. deferred: postponed, because the endpoint has too many attempts in progress.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  for (const outcome of webhookOutcomes) attempts.inc({ outcome }, 0);
  return { webhookAttempted: (outcome) => attempts.inc({ outcome }) };
}
