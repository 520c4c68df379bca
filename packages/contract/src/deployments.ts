import { z } from "zod";
import { list, pageQuery, single, sortQuery, Timestamp } from "./envelopes.ts";
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
    .describe("How far its share of failed runs may lie above the live one's: 0.05 is five points."),
  max_p95_ratio: z
    .number()
    .min(1)
    .max(100)
    .optional()
    .describe("Its 95th percentile of run times over the live one's."),
  max_mean_tokens_ratio: z
    .number()
    .min(1)
    .max(100)
    .optional()
    .describe("Its mean tokens of a run over the live one's."),
  min_runs: z.int().min(1).max(10_000).describe("Runs of each of the two before anything is judged."),
  window_seconds: z
    .int()
    .min(10)
    .max(7 * 86_400)
    .describe("How long it is watched, from its activation."),
};

/** What a canary must not do worse than the live deployment. */
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

const ArmFigures = z
  .object({ runs: z.int(), error_rate: z.number(), p95_ms: z.number().nullable(), mean_tokens: z.number().nullable() })
  .meta({ id: "ArmFigures" });
export type ArmFigures = z.infer<typeof ArmFigures>;

export const GuardReport = z
  .object({
    checked_at: Timestamp,
    verdict: z.enum(["waiting", "healthy", "rolled_back"]).describe("`waiting`: not enough runs yet."),
    reason: z.string().nullable().describe("Which guard was broken, with the figures."),
    canary: ArmFigures,
    live: ArmFigures,
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
    traffic_percent: z.int().describe("100 for the live one; less for a canary beside it."),
    guards: Guards.nullable(),
    guard_report: GuardReport.nullable().describe("The last look at a guarded canary."),
    rollback_of: DeploymentId.nullable().describe("The deployment that this one took out of service by a rollback."),
    created_by: KeyId.nullable(),
    created_at: Timestamp,
    activated_at: Timestamp.nullable(),
    ended_at: Timestamp.nullable(),
    error: z.string().nullable().describe("Why it failed or was rolled back, and what to do."),
  })
  .meta({ id: "Deployment" });
export type Deployment = z.infer<typeof Deployment>;

const Traffic = z.int().min(1).max(100);
const CreateDeployment = z
  .strictObject({
    environment: Environment,
    version: VersionLabel.describe(
      "Its first use makes a version of the agent's draft; later use deploys that version again.",
    ),
    traffic_percent: Traffic.default(100).describe("Less than 100 makes a canary beside the live deployment."),
    guards: NewGuards.optional().describe("For a canary: when it is taken out of service by itself."),
    redeploy: z
      .boolean()
      .default(false)
      .describe("Deploys a version that exists as it is, though the agent's draft has changed since."),
  })
  .refine(({ guards, traffic_percent }) => !guards || traffic_percent < 100, {
    path: ["guards"],
    error: "Guards are for a canary: give a traffic_percent below 100",
  })
  .meta({ id: "CreateDeployment" });

const UpdateDeployment = z.strictObject({ traffic_percent: Traffic.max(99) }).meta({ id: "UpdateDeployment" });

const deploymentSortFields = ["created_at"] as const;
const params = z.strictObject({ agent_id: AgentRef, deployment_id: z.string() });
const tag = "Deployments";

export const deploymentOperations = {
  "POST /v1/agents/{agent_id}/deployments": {
    id: "createDeployment",
    tag,
    summary: "Create deployment",
    description:
      "Answers at once with `pending`. Checks of the model, the tools and the limits follow; then it is `active` and live from the next request on, or `failed` with an `error`, and what was live stays so.",
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
    description: "All there ever were: nothing is removed.",
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
    description: "Changes the share of a canary. Sessions that are on it stay on it when the share grows.",
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
    description: "The canary becomes the live deployment, from the next request on.",
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
    description: "The canary gets no request any more; the live deployment gets all.",
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
      "The environment runs the version of this deployment again; if it is the live one, the version before it. Counts from the next request on, on every node. The answer is a new deployment; no record is removed. A canary is aborted.",
    permission: "write",
    params,
    status: 201,
    response: single(Deployment),
    errors: ["not_found"],
  },
} as const satisfies OperationTable;
