import type { RequirementTable } from "./requirement.ts";

const notShown = (operation: string) => `Response body and success status of ${operation}: not shown.` as const;

export const responses = {
  "responses.single-envelope": {
    section: "Endpoints",
    given: "Single-object and action responses are `{success: true, data: <object>}`.",
  },
  "responses.list-envelope": {
    section: "Endpoints",
    given: "List responses are `{data: [<item>...], pagination: <pagination object>}`.",
  },
  "changes.etag": {
    section: "Endpoints",
    silent: "How a client notices that something was changed since it read it: not shown.",
    decision:
      "Answers that show one agent, webhook or key carry a strong `ETag`, made from their fields except those that change by themselves: last_used_at, failing_since, previous_secret_expires_at, and the status of a key.",
  },
  "changes.if-match": {
    section: "Endpoints",
    silent: "How two clients are kept from undoing each other's changes: not shown.",
    decision:
      "Changes to an agent, a webhook or a key honour `If-Match` (tags, or `*`), checked on the locked row: 412 `precondition_failed` and no change if the tag is another. Other changes refuse the header with 400.",
  },
  "changes.nothing": {
    section: "Endpoints",
    silent: "What a PATCH does that changes nothing: not shown.",
    decision:
      "It answers 200 with the resource and leaves no trace: updated_at, `ETag` and audit log stay as they are. A secret that is given counts as a change, because it is not compared with the stored one.",
  },
  "responses.update-agent": {
    section: "Endpoints",
    silent: notShown("Update Agent"),
    decision: "200 with the whole agent as it is now.",
  },
  "responses.delete-agent": {
    section: "Endpoints",
    silent: notShown("Delete Agent"),
    decision: "200 with `{id, deleted: true}`.",
  },
  "responses.create-deployment": {
    section: "Endpoints",
    silent: notShown("Create Deployment"),
    decision: "201 with the deployment.",
  },
  "responses.list-deployments": {
    section: "Endpoints",
    silent: notShown("List Deployments"),
    decision: "200 with deployments in the list envelope.",
  },
  "responses.rollback-deployment": {
    section: "Endpoints",
    silent: notShown("Rollback Deployment"),
    decision: "201 with the new deployment, whose rollback_of names the deployment that was rolled back.",
  },
  "responses.search-memory": {
    section: "Endpoints",
    silent: notShown("Search Memory"),
    decision: "200 with memory results in the list envelope, and beside it search: mode, exact and notice.",
  },
  "responses.clear-memory": {
    section: "Endpoints",
    silent: notShown("Clear Memory"),
    decision:
      "200 with the clear: id (a TypeID with the prefix `clr_`), status `completed`, memories_deleted, messages_deleted, user_id, session_id, before, created_at, completed_at. A clear that takes longer than a second answers 202 with the status `running`, and a Location to read its progress from.",
  },
  "responses.create-webhook": {
    section: "Endpoints",
    silent: notShown("Create Webhook"),
    decision: "201 with the webhook and, this once, its secret.",
  },
  "responses.list-webhooks": {
    section: "Endpoints",
    silent: notShown("List Webhooks"),
    decision: "200 with webhooks in the list envelope.",
  },
  "responses.delete-webhook": {
    section: "Endpoints",
    silent: notShown("Delete Webhook"),
    decision: "200 with `{id, deleted: true}`.",
  },
  "responses.create-key": {
    section: "Endpoints",
    silent: notShown("Create API Key"),
    decision: "201 with the key record and, this once, the key itself.",
  },
  "responses.list-keys": {
    section: "Endpoints",
    silent: notShown("List API Keys"),
    decision: "200 with key records in the list envelope.",
  },
  "responses.revoke-key": {
    section: "Endpoints",
    silent: notShown("Revoke API Key"),
    decision: "200 with `{id, revoked_at}`.",
  },
} as const satisfies RequirementTable;
