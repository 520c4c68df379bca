import type { RequirementTable } from "./requirement.ts";

export const webhooks = {
  "webhooks.url-https": {
    section: "Resources and their fields",
    given: "url is the HTTPS address that receives events.",
  },
  "webhooks.agent-id-optional": {
    section: "Resources and their fields",
    silent: "Whether agent_id is required: not shown.",
    decision: "It is optional; a webhook without it receives the events of all agents of the organisation.",
  },
  "webhooks.record-fields": {
    section: "Resources and their fields",
    silent: "The fields of a webhook record: not shown.",
    decision:
      "At least id (a TypeID with the prefix `wh_`), agent_id, url, events, status and created_at; never the secret.",
  },
  "webhooks.signature-header": {
    section: "Authentication",
    given:
      "Each delivery carries `X-Service-Signature`: the hex-encoded HMAC with SHA-256 of the raw body, keyed with the webhook secret.",
  },
  "webhooks.signature-check": {
    section: "Authentication",
    given: "The receiver compares signatures in constant time and rejects a mismatch as unauthorized.",
  },
  "webhooks.secret-source": {
    section: "Authentication",
    silent: "Where the webhook secret is obtained: not shown.",
    decision:
      "The service makes it (`whsec_…`) and shows it when the webhook is created or its secret rotated, only then.",
  },
} as const satisfies RequirementTable;
