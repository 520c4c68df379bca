import type { RequirementTable } from "./requirement.ts";

export const deployments = {
  "deployment.record-fields": {
    section: "Resources and their fields",
    silent: "The fields of a deployment record: not shown.",
    decision:
      "id (a TypeID with the prefix `dep_`), agent_id, environment, version, status, traffic_percent, guards, guard_report, rollback_of, created_by, created_at, activated_at, ended_at, error.",
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
    decision: '409 `conflict`, which names the fields that differ. `"redeploy": true` deploys the version as it is.',
  },
  "deployment.rollback-target": {
    section: "Endpoints",
    silent: "What Rollback Deployment makes live: not shown.",
    decision:
      "The environment runs the version of `{deployment_id}` again or, if that is the live one, the version before it. The history only grows: no record is removed.",
  },
  "deployment.checks": {
    section: "Resources and their fields",
    silent: "What makes a deployment fail: not shown.",
    decision:
      "A model that is not there, a tool or remote agent that does not answer or may not be called, tools with room for one step only, and a model that is its own fallback. Its `error` says what to fix.",
  },
  "deployment.order": {
    section: "Resources and their fields",
    silent: "Which of several deployments to one environment counts: not shown.",
    decision: "They become live in the order they were created: the last one counts.",
  },
  "deployment.overtaken": {
    section: "Resources and their fields",
    silent: "What a rollback does to deployments that are still pending: not shown.",
    decision: "They fail: a deployment requested before the rollback never becomes live after it.",
  },
  "deployment.rollback-further": {
    section: "Endpoints",
    silent: "What a second rollback makes live: not shown.",
    decision:
      "It goes further back: what was live before the version that the first one made live. With nothing before, 409.",
  },
  "deployment.never-live": {
    section: "Endpoints",
    silent: "Whether a deployment that was never live can be rolled back to: not shown.",
    decision: "409. A canary that gets traffic is aborted instead.",
  },
  "deployment.events": {
    section: "Resources and their fields",
    silent: "When a deployment's events are written: not shown.",
    decision:
      "`deployment.activated`, `deployment.failed` and `deployment.rolled_back` are written in the transaction of the change, with the deployment as the API shows it.",
  },
  "deployment.canary": {
    section: "Resources and their fields",
    silent: "How a version gets a part of the traffic: not shown.",
    decision:
      "A traffic_percent below 100 makes a canary beside the live deployment, one at most. The next deployment of 100 % or a rollback supersedes it.",
  },
  "deployment.canary-sticky": {
    section: "Resources and their fields",
    silent: "Who gets the canary: not shown.",
    decision:
      "A session always gets the same of the two; without one a user does; without either it is chance. A growing share takes no session or user off the canary.",
  },
  "deployment.canary-operations": {
    section: "Endpoints",
    silent: "How a canary is changed and ended: not shown.",
    decision:
      "PATCH `/v1/agents/{agent_id}/deployments/{deployment_id}` changes its share; POST `…/promote` makes it the live one; POST `…/abort` ends it. 409 for a deployment that is not a canary.",
  },
  "deployment.guards": {
    section: "Resources and their fields",
    silent: "What takes a bad canary out of service: not shown.",
    decision:
      "Guards: when its error rate, 95th percentile or mean tokens lie too far above the live one's, after min_runs runs of each, it is rolled back by itself, with the figures in guard_report.",
  },
  "deployment.pinned-version": {
    section: "Resources and their fields",
    silent: "How a version is tried before it is deployed: not shown.",
    decision: "context.version names it, for a key that may read as well as write. 404 for an unknown one.",
  },
  "agent.check": {
    section: "Endpoints",
    silent: "How a developer learns before a run or a deployment that an agent cannot work: not shown.",
    decision:
      "POST `/v1/agents/{agent_id}/check` checks the draft as a deployment does and lists every problem, each with its field and what to do. It changes nothing, answers within seconds whatever the addresses of the agent do, and shows nothing of a secret.",
  },
  "deployment.draft-invoked": {
    section: "Resources and their fields",
    silent: "How the draft of an agent is tried while something else is deployed: not shown.",
    decision:
      "context.version `draft` runs it, for a key that may read as well as write; the run's version is null. `draft` is reserved: 400 for a deployment that names a version so.",
  },
  "deployment.draft-by-default": {
    section: "Resources and their fields",
    silent: "Whether a saved draft answers without a deployment: not shown.",
    decision:
      "With PERCH_DRAFT_BY_DEFAULT, which `perch dev` sets, a request that names neither context.environment nor context.version runs the draft, also when something is deployed.",
  },
  "deployment.never-deployed-draft": {
    section: "Resources and their fields",
    silent: "What an environment runs that nothing was ever deployed to: not shown.",
    decision: "The agent's draft; the run's version is null.",
  },
  "deployment.runs-under-way": {
    section: "Resources and their fields",
    silent: "What a deployment does to runs under way: not shown.",
    decision: "Nothing: a run ends on the version it began with. A session continues with its earlier messages.",
  },
  "version.immutable": {
    section: "Resources and their fields",
    silent: "Whether a version can be changed: not shown.",
    decision: "Never: the server's database role may neither change nor remove one. `security` is no part of it.",
  },
  "version.list": {
    section: "Endpoints",
    silent: "How versions are found: not shown.",
    decision: "GET `/v1/agents/{agent_id}/versions` lists them, newest first, with checksum and without definition.",
  },
  "version.get": {
    section: "Endpoints",
    silent: "How a version is read: not shown.",
    decision: "GET `/v1/agents/{agent_id}/versions/{version}` answers its whole definition.",
  },
  "version.diff": {
    section: "Endpoints",
    silent: "How two versions are compared: not shown.",
    decision:
      "GET `/v1/agents/{agent_id}/versions/{version}/diff?to=` compares it with another one or, by default, with the draft: field by field, and as a unified diff.",
  },
  "deployments.listed-across-agents": {
    section: "Endpoints",
    silent: "How to see the deployments of all agents: not shown.",
    decision:
      "GET `/v1/deployments` lists those of every agent that the caller can see, newest first, with a cursor and without a count.",
  },
} as const satisfies RequirementTable;
