import { z } from "zod";
import { ShownAuth } from "./agent-auth.ts";
import { AgentDefinition, AgentDefinitionPatch, agentDefaults } from "./agent-definition.ts";
import { list, pageQuery, single, sortQuery, Timestamp } from "./envelopes.ts";
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
  .object({ ...AgentSummary.shape, ...AgentDefinition.shape, auth: ShownAuth.nullable(), updated_at: Timestamp })
  .meta({ id: "Agent" });
export type Agent = z.infer<typeof Agent>;

export const agentSortFields = ["created_at", "updated_at", "name"] as const;
export type AgentSortField = (typeof agentSortFields)[number];

const agent = single(Agent);
const params = z.strictObject({ agent_id: AgentRef });
const tag = "Agents";
const force = z.strictObject({
  force: z
    .enum(["true", "false"])
    .default("false")
    .describe("Lets you set `security` that refuses this very request: an address list without you in it, say."),
});

export const agentOperations = {
  "POST /v1/agents": {
    id: "createAgent",
    tag,
    summary: "Create agent",
    description: `\`name\` never changes afterwards. \`model\` is required, except for a remote agent (\`runtime.type\` is \`http\`). Left out, the rest is \`${JSON.stringify(agentDefaults)}\`. Setting \`security\` or \`auth\` also needs the permission \`manage\`.`,
    permission: "write",
    query: force,
    body: AgentDefinitionPatch.extend({ name: AgentName }).meta({ id: "CreateAgent" }),
    status: 201,
    response: agent,
    errors: ["conflict"],
  },
  "GET /v1/agents": {
    id: "listAgents",
    tag,
    summary: "List agents",
    permission: "read",
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
    errors: ["not_found"],
  },
  "PATCH /v1/agents/{agent_id}": {
    id: "updateAgent",
    tag,
    summary: "Update agent",
    description:
      "Changes the draft. `memory`, `limits` and `security` merge field by field, everything else is replaced; null restores the default. Changing `security` or `auth` also needs the permission `manage`, and is refused with `conflict` where it would refuse this very request, unless forced.",
    permission: "write",
    params,
    query: force,
    body: AgentDefinitionPatch.meta({ id: "UpdateAgent" }),
    status: 200,
    response: agent,
    errors: ["not_found", "conflict"],
  },
  "DELETE /v1/agents/{agent_id}": {
    id: "deleteAgent",
    tag,
    summary: "Delete agent",
    description: "The agent is gone at once and its name is free again. Keys that belong to it are revoked.",
    permission: "delete",
    params,
    status: 200,
    response: single(z.object({ id: AgentId, deleted: z.literal(true) })),
    errors: ["not_found"],
  },
  "POST /v1/agents/{agent_id}/pause": {
    id: "pauseAgent",
    tag,
    summary: "Pause agent",
    description: "A paused agent refuses new invocations with `conflict`. Pausing twice is the same as once.",
    permission: "write",
    params,
    status: 200,
    response: agent,
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
    errors: ["not_found"],
  },
} as const satisfies OperationTable;
