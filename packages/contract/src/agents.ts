import { z } from "zod";
import { RedactedAuth } from "./agent-auth.ts";
import { AgentDefinition, AgentDefinitionPatch, agentDefaults } from "./agent-definition.ts";
import { flagQuery, list, pageQuery, single, sortQuery, Timestamp } from "./envelopes.ts";
import { AgentId, AgentName, AgentRef } from "./ids.ts";
import type { OperationTable } from "./operation.ts";

export const agentStatuses = ["running", "paused"] as const;
export const AgentStatus = z.enum(agentStatuses).meta({ id: "AgentStatus" });
export type AgentStatus = z.infer<typeof AgentStatus>;

export const AgentSummary = z
  .object({ id: AgentId, name: AgentName, status: AgentStatus, created_at: Timestamp })
  .meta({ id: "AgentSummary" });
export type AgentSummary = z.infer<typeof AgentSummary>;

export const Agent = z
  .object({
    ...AgentSummary.shape,
    ...AgentDefinition.shape,
    auth: RedactedAuth.nullable(),
    updated_at: Timestamp,
    warnings: z
      .array(z.string())
      .optional()
      .describe(
        "Only in the answer to a change that sets `auth`: what is refused from now on, and until when the key that made the change can take it back.",
      ),
  })
  .meta({ id: "Agent" });
export type Agent = z.infer<typeof Agent>;

export const agentSortFields = ["created_at", "updated_at", "name"] as const;
export type AgentSortField = (typeof agentSortFields)[number];

const agent = single(Agent);
const params = z.strictObject({ agent_id: AgentRef });
const tag = "Agents";
const force = z.strictObject({
  force: flagQuery(
    "Apply `security` settings even if they would refuse this request, such as an IP allow-list without your address.",
  ),
});

export const agentOperations = {
  "POST /v1/agents": {
    id: "createAgent",
    tag,
    summary: "Create agent",
    description: `\`name\` cannot be changed later. \`model\` is required, except for a remote agent (\`runtime.type\` is \`http\`). The other fields default to \`${JSON.stringify(agentDefaults)}\`. Setting \`security\` or \`auth\` also needs the permission \`manage\`.`,
    permission: "write",
    agents: "none",
    query: force,
    body: AgentDefinitionPatch.extend({ name: AgentName }).meta({ id: "CreateAgent" }),
    status: 201,
    response: agent,
    etag: true,
    errors: ["conflict"],
  },
  "GET /v1/agents": {
    id: "listAgents",
    tag,
    summary: "List agents",
    description: "Id, name and status of every agent, whatever its settings.",
    permission: "read",
    agents: "none",
    query: z.strictObject({ ...pageQuery, sort: sortQuery(agentSortFields) }),
    status: 200,
    response: list(AgentSummary),
  },
  "GET /v1/agents/{agent_id}": {
    id: "getAgent",
    tag,
    summary: "Get agent",
    permission: "read",
    params,
    status: 200,
    response: agent,
    etag: true,
    errors: ["not_found"],
  },
  "PATCH /v1/agents/{agent_id}": {
    id: "updateAgent",
    tag,
    summary: "Update agent",
    description:
      "Changes the draft. Fields that are left out stay as they are. `memory`, `limits` and `security` are merged field by field; an object inside them, such as `memory.embedder` or `security.hsts`, is replaced as a whole. Every other field is replaced. null restores a field's default, and removes a field of `security`; `model` has no default and cannot be null. Changing `security` or `auth` also needs the permission `manage`. Security settings that would refuse this request are rejected with `conflict`, unless `force` is true. For one hour after a change of `auth`, the key that made it can read and update the agent without a user's token, to take it back; `warnings` says so.",
    permission: "write",
    params,
    query: force,
    body: AgentDefinitionPatch.meta({ id: "UpdateAgent" }),
    status: 200,
    response: agent,
    etag: true,
    ifMatch: true,
    errors: ["not_found", "conflict"],
  },
  "DELETE /v1/agents/{agent_id}": {
    id: "deleteAgent",
    tag,
    summary: "Delete agent",
    description:
      "Deletes the agent immediately; its name can be used again. Keys that are limited to this agent are revoked.",
    permission: "delete",
    params,
    status: 200,
    response: single(z.object({ id: AgentId, deleted: z.literal(true) })),
    ifMatch: true,
    errors: ["not_found"],
  },
  "POST /v1/agents/{agent_id}/pause": {
    id: "pauseAgent",
    tag,
    summary: "Pause agent",
    description: "A paused agent rejects new runs with `conflict`. Pausing a paused agent changes nothing.",
    permission: "write",
    params,
    status: 200,
    response: agent,
    etag: true,
    ifMatch: true,
    errors: ["not_found"],
  },
  "POST /v1/agents/{agent_id}/resume": {
    id: "resumeAgent",
    tag,
    summary: "Resume agent",
    description: "Resuming a running agent changes nothing.",
    permission: "write",
    params,
    status: 200,
    response: agent,
    etag: true,
    ifMatch: true,
    errors: ["not_found"],
  },
} as const satisfies OperationTable;
export type AgentOperationKey = keyof typeof agentOperations;
