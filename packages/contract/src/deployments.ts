import { z } from "zod";
import { Instant, list, pageQuery, single, sortQuery, Timestamp, uncountedList, uncountedQuery } from "./envelopes.ts";
import { AgentId, AgentRef, DeploymentId, KeyId } from "./ids.ts";
import type { OperationTable } from "./operation.ts";
import { VersionLabel } from "./versions.ts";

export const deploymentStatuses = ["pending", "active", "failed", "superseded", "rolled_back"] as const;
export const DeploymentStatus = z.enum(deploymentStatuses).meta({ id: "DeploymentStatus" });
export type DeploymentStatus = z.infer<typeof DeploymentStatus>;

export const environmentPattern = /^[a-z0-9][a-z0-9-]{0,62}$/;
export const Environment = z
  .string()
  .regex(environmentPattern, "Use 1 to 63 lower-case letters, digits and hyphens, starting with a letter or digit")
  .meta({ id: "Environment", example: "production" });

const guardFields = {
  max_error_rate_increase: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe(
      "Maximum difference between the canary's error rate and the live deployment's. 0.05 is five percentage points.",
    ),
  max_p95_ratio: z
    .number()
    .min(1)
    .max(100)
    .optional()
    .describe("Maximum ratio of the canary's 95th percentile run time to the live deployment's."),
  max_mean_tokens_ratio: z
    .number()
    .min(1)
    .max(100)
    .optional()
    .describe("Maximum ratio of the canary's mean tokens per run to the live deployment's."),
  min_runs: z.int().min(1).max(10_000).describe("Number of runs that both deployments need before they are compared."),
  window_seconds: z
    .int()
    .min(10)
    .max(7 * 86_400)
    .describe("How long the canary is watched after its activation."),
};

/** How much worse than the live deployment a canary may be before it is rolled back. */
export const Guards = z.object(guardFields).meta({ id: "Guards" });
export type Guards = z.infer<typeof Guards>;

const NewGuards = z
  .strictObject({
    ...guardFields,
    min_runs: guardFields.min_runs.default(50),
    window_seconds: guardFields.window_seconds.default(3600),
  })
  .refine(
    ({ max_error_rate_increase, max_p95_ratio, max_mean_tokens_ratio }) =>
      [max_error_rate_increase, max_p95_ratio, max_mean_tokens_ratio].some((rule) => rule !== undefined),
    "Give at least one of max_error_rate_increase, max_p95_ratio and max_mean_tokens_ratio",
  )
  .meta({ id: "NewGuards" });

const DeploymentStats = z
  .object({ runs: z.int(), error_rate: z.number(), p95_ms: z.number().nullable(), mean_tokens: z.number().nullable() })
  .meta({ id: "DeploymentStats" });
export type DeploymentStats = z.infer<typeof DeploymentStats>;

export const GuardReport = z
  .object({
    checked_at: Timestamp,
    verdict: z
      .enum(["waiting", "healthy", "rolled_back"])
      .describe(
        "`waiting`: not enough runs yet. `healthy`: no guard was violated. `rolled_back`: a guard was violated.",
      ),
    reason: z.string().nullable().describe("The guard that was violated, with its values."),
    canary: DeploymentStats,
    live: DeploymentStats,
  })
  .meta({ id: "GuardReport" });
export type GuardReport = z.infer<typeof GuardReport>;

export const Deployment = z
  .object({
    id: DeploymentId,
    agent_id: AgentId,
    environment: Environment,
    version: VersionLabel,
    status: DeploymentStatus,
    traffic_percent: z.int().describe("Share of requests. 100 for the live deployment, less for a canary."),
    guards: Guards.nullable(),
    guard_report: GuardReport.nullable().describe("Result of the canary's last check."),
    rollback_of: DeploymentId.nullable().describe("The deployment that this one replaced in a rollback."),
    created_by: KeyId.nullable(),
    created_at: Timestamp,
    activated_at: Timestamp.nullable(),
    ended_at: Timestamp.nullable(),
    error: z.string().nullable().describe("Why the deployment failed or was rolled back, and what to do about it."),
  })
  .meta({ id: "Deployment" });
export type Deployment = z.infer<typeof Deployment>;

export const DeploymentOfAnyAgent = Deployment.extend({ agent_name: z.string() }).meta({ id: "DeploymentOfAnyAgent" });
export type DeploymentOfAnyAgent = z.infer<typeof DeploymentOfAnyAgent>;

const AllDeploymentsQuery = z.strictObject({
  ...uncountedQuery,
  agent_id: AgentRef.min(1).max(128).optional().describe("Only deployments of this agent (id or name)."),
  environment: Environment.optional(),
  status: DeploymentStatus.optional(),
  start_time: Instant.optional().describe("Only deployments created at this time or later."),
  end_time: Instant.optional().describe("Only deployments created before this time."),
});
export type AllDeploymentsQuery = z.output<typeof AllDeploymentsQuery>;

const Traffic = z.int().min(1).max(100);
const CreateDeployment = z
  .strictObject({
    environment: Environment,
    version: VersionLabel.describe(
      "A new label creates a version from the agent's draft. A label that exists deploys that version again.",
    ),
    traffic_percent: Traffic.default(100).describe(
      "Share of requests. Less than 100 creates a canary beside the live deployment.",
    ),
    guards: NewGuards.optional().describe("Conditions under which a canary is rolled back automatically."),
    redeploy: z
      .boolean()
      .default(false)
      .describe("Deploy an existing version even though the agent's draft has changed since."),
  })
  .refine(({ guards, traffic_percent }) => !guards || traffic_percent < 100, {
    path: ["guards"],
    error: "Guards are for a canary: give a traffic_percent below 100",
  })
  .meta({ id: "CreateDeployment" });

const UpdateDeployment = z.strictObject({ traffic_percent: Traffic.max(99) }).meta({ id: "UpdateDeployment" });

export const AgentProblem = z
  .object({
    kind: z
      .enum(["limits", "secret", "model", "tool", "runtime"])
      .describe("What is wrong: settings that contradict each other, or something that is missing or does not answer."),
    field: z.string().describe("Path of the field in the agent's definition, such as `model` or `tools.0`."),
    message: z.string().describe("What is wrong, and what to do about it."),
  })
  .meta({ id: "AgentProblem" });
export type AgentProblem = z.infer<typeof AgentProblem>;

const AgentCheck = z.object({ problems: z.array(AgentProblem) }).meta({ id: "AgentCheck" });

const deploymentSortFields = ["created_at"] as const;
const params = z.strictObject({ agent_id: AgentRef, deployment_id: z.string() });
const tag = "Deployments";

export const deploymentOperations = {
  "POST /v1/agents/{agent_id}/check": {
    id: "checkAgent",
    tag,
    summary: "Check agent",
    description:
      "Checks the agent's draft as a deployment would: its limits, its secrets, whether its models exist, and whether its tools or its remote agent answer within 5 seconds. Changes nothing, and calls no model. The answer lists every problem; the list is empty if a deployment of the draft would become active.",
    permission: "write",
    params: z.strictObject({ agent_id: AgentRef }),
    readOnly: true,
    status: 200,
    response: single(AgentCheck),
    errors: ["not_found"],
  },
  "POST /v1/agents/{agent_id}/deployments": {
    id: "createDeployment",
    tag,
    summary: "Create deployment",
    description:
      "Returns immediately with the status `pending`. The model, the tools and the limits are checked; then the deployment is `active` and serves the next request, or it is `failed` with an `error` and the live deployment stays live.",
    permission: "write",
    params: z.strictObject({ agent_id: AgentRef }),
    body: CreateDeployment,
    status: 201,
    response: single(Deployment),
    errors: ["not_found"],
  },
  "GET /v1/agents/{agent_id}/deployments": {
    id: "listDeployments",
    tag,
    summary: "List deployments",
    description:
      "Includes past deployments, as many as the tier keeps: beyond that, those that ended first are deleted.",
    permission: "read",
    params: z.strictObject({ agent_id: AgentRef }),
    query: z.strictObject({
      ...pageQuery,
      sort: sortQuery(deploymentSortFields),
      environment: Environment.optional(),
      status: DeploymentStatus.optional(),
    }),
    status: 200,
    response: list(Deployment),
    errors: ["not_found"],
  },
  "GET /v1/deployments": {
    id: "listAllDeployments",
    tag,
    summary: "List deployments of all agents",
    description:
      "Newest first, without deployments of deleted agents. Nothing is counted, and a request reads a bounded number of deployments. Where a filter matches few of them, a page can be short or empty: `next_cursor` continues.",
    permission: "read",
    query: AllDeploymentsQuery,
    status: 200,
    response: uncountedList(DeploymentOfAnyAgent),
    errors: ["not_found"],
  },
  "GET /v1/agents/{agent_id}/deployments/{deployment_id}": {
    id: "getDeployment",
    tag,
    summary: "Get deployment",
    permission: "read",
    params,
    status: 200,
    response: single(Deployment),
    errors: ["not_found"],
  },
  "PATCH /v1/agents/{agent_id}/deployments/{deployment_id}": {
    id: "updateDeployment",
    tag,
    summary: "Adjust canary",
    description: "Changes a canary's share of requests. When the share grows, sessions on the canary stay on it.",
    permission: "write",
    params,
    body: UpdateDeployment,
    status: 200,
    response: single(Deployment),
    errors: ["not_found"],
  },
  "POST /v1/agents/{agent_id}/deployments/{deployment_id}/promote": {
    id: "promoteDeployment",
    tag,
    summary: "Promote canary",
    description: "The canary becomes the live deployment and serves the next request.",
    permission: "write",
    params,
    status: 200,
    response: single(Deployment),
    errors: ["not_found"],
  },
  "POST /v1/agents/{agent_id}/deployments/{deployment_id}/abort": {
    id: "abortDeployment",
    tag,
    summary: "Abort canary",
    description: "The canary gets no more requests; the live deployment gets all of them.",
    permission: "write",
    params,
    status: 200,
    response: single(Deployment),
    errors: ["not_found"],
  },
  "POST /v1/agents/{agent_id}/deployments/{deployment_id}/rollback": {
    id: "rollbackDeployment",
    tag,
    summary: "Roll back deployment",
    description:
      "Creates a new deployment of this deployment's version in its environment. For the live deployment, the previous version is deployed instead; a canary is aborted. Takes effect with the next request, on every node.",
    permission: "write",
    params,
    status: 201,
    response: single(Deployment),
    errors: ["not_found"],
  },
} as const satisfies OperationTable;
export type DeploymentOperationKey = keyof typeof deploymentOperations;
