import { Counter, type Registry } from "prom-client";

const outcomes = ["delivered", "answered", "timeout", "refused", "unreachable", "deferred"] as const;

export interface WebhookMetrics {
  readonly webhookAttempted: (outcome: (typeof outcomes)[number]) => void;
}

export function createWebhookMetrics(registry: Registry): WebhookMetrics {
  const attempts = new Counter({
    name: "perch_webhook_attempts_total",
    help: "Attempts of deliveries: delivered, answered (but not with 2xx), timeout, refused (the address), unreachable; deferred: put off, because the endpoint had enough to do.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  for (const outcome of outcomes) attempts.inc({ outcome }, 0);
  return { webhookAttempted: (outcome) => attempts.inc({ outcome }) };
}
