import type { RequirementTable } from "./requirement.ts";

export const limits = {
  "rate-limit.tier-free": {
    section: "Limits",
    given: "Free: 60 requests per minute, burst 100.",
  },
  "rate-limit.tier-pro": {
    section: "Limits",
    given: "Pro: 1000 requests per minute, burst 2000.",
  },
  "rate-limit.tier-enterprise": {
    section: "Limits",
    given: "Enterprise: 10000 requests per minute, burst 20000.",
  },
  "rate-limit.header-limit": {
    section: "Limits",
    given: "Responses carry `X-RateLimit-Limit` (integer).",
  },
  "rate-limit.header-remaining": {
    section: "Limits",
    given: "Responses carry `X-RateLimit-Remaining` (integer).",
  },
  "rate-limit.header-reset": {
    section: "Limits",
    given: "Responses carry `X-RateLimit-Reset` (integer timestamp).",
  },
  "rate-limit.counted-per": {
    section: "Limits",
    silent: "What a limit is counted per: not shown.",
    decision: "Per organisation, over all its keys and all nodes.",
  },
  "rate-limit.burst": {
    section: "Limits",
    silent: "The burst semantics: not shown.",
    decision:
      "A bucket that holds the burst and refills evenly at the requests per minute. `X-RateLimit-Limit` is what it holds when full, `X-RateLimit-Remaining` the whole requests left in it.",
  },
  "rate-limit.reset-unit": {
    section: "Limits",
    silent: "The unit of the reset value: not shown.",
    decision: "Unix time in seconds, of the moment the bucket is full again.",
  },
  "idempotency.header": {
    section: "Limits",
    given: "The header `Idempotency-Key` makes retries safe.",
  },
  "idempotency.valid-24-hours": {
    section: "Limits",
    given: "An idempotency key is valid for 24 hours.",
  },
  "idempotency.replay": {
    section: "Limits",
    silent: "The behaviour of a replayed key: not shown.",
    decision:
      "It returns the first status and body, with the header `Idempotent-Replayed: true`, and does nothing else.",
  },
  "idempotency.in-flight": {
    section: "Limits",
    silent: "A replayed key while the first request is still running: not shown.",
    decision: "The second request waits for the first and gets the same answer.",
  },
  "idempotency.failures-not-kept": {
    section: "Limits",
    silent: "A replayed key after a failed request: not shown.",
    decision: "Refusals (4xx), and 5xx before any effect, are not kept: the request is tried afresh.",
  },
  "idempotency.operations": {
    section: "Limits",
    silent: "The operations that honour the key: not shown.",
    decision:
      "Every POST and every PATCH with which an organisation changes something. Search Memory and the check of an agent change nothing, ignore the key and are answered afresh. Revoking a leaked key, which has no organisation yet, gives the same answer each time by itself.",
  },
  "idempotency.scope": {
    section: "Limits",
    silent: "What an idempotency key is unique within: not shown.",
    decision:
      "The organisation, the method and the path. The answer goes to the API key that asked first; another one gets 409.",
  },
  "limits.body-size": {
    section: "Limits",
    silent: "Request size limits: not shown.",
    decision: "A body is at most 1 MiB; a larger one is 413 `payload_too_large`.",
  },
  "limits.message-size": {
    section: "Limits",
    silent: "The size limit of a message: not shown.",
    decision: "256 KiB.",
  },
  "limits.context-size": {
    section: "Limits",
    silent: "The size limit of a context: not shown.",
    decision: "16 KiB.",
  },
  "limits.invocation-timeout": {
    section: "Limits",
    silent: "Invocation time-outs: not shown.",
    decision: "The agent's timeout_seconds: 120 unless set, at most 900.",
  },
} as const satisfies RequirementTable;
