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
    decision: "201 with the new deployment, whose rollback_of says what was rolled back.",
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
