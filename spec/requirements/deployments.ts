import type { RequirementTable } from "./requirement.ts";

export const deployments = {
  "deployment.record-fields": {
    section: "Resources and their fields",
    silent: "The fields of a deployment record: not shown.",
    decision:
      "id (a TypeID with the prefix `dep_`), agent_id, environment, version, status, rollback_of, created_by, created_at, activated_at, ended_at, error.",
  },
  "deployment.statuses": {
    section: "Resources and their fields",
    silent: "The states of a deployment: not shown.",
    decision: "pending becomes active or failed; active becomes superseded or rolled_back.",
  },
  "deployment.failed-keeps-previous": {
    section: "Resources and their fields",
    silent: "What a failed deployment does to the live one: not shown.",
    decision: "Nothing: the deployment that was live stays live.",
  },
  "deployment.label-snapshot": {
    section: "Resources and their fields",
    silent: "What a version label stands for: not shown.",
    decision:
      "Its first use snapshots the agent's draft, for good. Later use of the label deploys that snapshot again.",
  },
  "deployment.label-reused": {
    section: "Resources and their fields",
    silent: "What happens when a used label meets a changed draft: not shown.",
    decision: "409 `conflict`.",
  },
  "deployment.rollback-target": {
    section: "Endpoints",
    silent: "What Rollback Deployment makes live: not shown.",
    decision:
      "The environment runs the version of `{deployment_id}` again or, if that is the live one, the version before it. The history only grows: no record is removed.",
  },
} as const satisfies RequirementTable;
