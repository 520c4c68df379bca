import { z } from "zod";
import { list, pageQuery, single, sortQuery, Timestamp } from "./envelopes.ts";
import { AgentId, AgentRef, KeyId } from "./ids.ts";
import type { OperationTable } from "./operation.ts";
import { SecretName } from "./secret-references.ts";

/**
 * A host, with its port if that is not the scheme's default, and with `http://` before it if requests are not
 * encrypted.
 */
const SecretHost = z
  .string()
  .max(260)
  .regex(
    /^(https?:\/\/)?([a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*|\[[0-9a-f:.]+\])(:[1-9][0-9]{0,4})?$/,
    "Expected a host in lower case, such as api.github.com, tools.example:8443 or http://127.0.0.1:3000",
  )
  .meta({ example: "api.github.com" });

const SecretHosts = z
  .array(SecretHost)
  .min(1)
  .max(16)
  .refine((hosts) => new Set(hosts).size === hosts.length, "A host is named twice")
  .describe(
    "The only hosts that the secret is sent to: `api.github.com` stands for HTTPS and port 443, `tools.example:8443` for another port, `http://127.0.0.1:3000` for HTTP. There are no wildcards.",
  );

/**
 * It is sent in headers and query parameters. Shorter ones could not be distinguished from ordinary text in an answer.
 */
export const SecretValue = z
  .string()
  .min(8)
  .max(4096)
  .regex(/^[\x20-\x7e]*$/, "Use printable ASCII characters, without line breaks")
  .refine((value) => value.trim() === value, "Must not begin or end with a space")
  .describe("Stored encrypted and never returned.")
  .meta({ example: "the-token-of-the-tool" });

const SecretApproval = z
  .enum(["required"])
  .nullable()
  .describe(
    "`required`: only HTTP tools use the secret, and a person approves every call of them, whatever a version of an agent says. null: the agent decides.",
  );

export const Secret = z
  .object({
    name: SecretName,
    agent_id: AgentId.nullable().describe("The only agent that can use the secret. null: all agents."),
    hosts: z.array(z.string()),
    approval: SecretApproval,
    created_by: KeyId.nullable(),
    created_at: Timestamp,
    updated_by: KeyId.nullable().describe("The key that changed the secret last."),
    updated_at: Timestamp,
    last_used_at: Timestamp.nullable().describe("When a call last asked for the secret. May be a minute out of date."),
  })
  .meta({ id: "Secret" });
export type Secret = z.infer<typeof Secret>;

const CreateSecret = z
  .strictObject({ name: SecretName, value: SecretValue, hosts: SecretHosts, approval: SecretApproval.optional() })
  .meta({ id: "CreateSecret" });

const UpdateSecret = z
  .strictObject({
    value: SecretValue.optional(),
    hosts: SecretHosts.optional().describe("Replaces the hosts. A host that is new needs `value` again."),
    approval: SecretApproval.optional(),
  })
  .meta({ id: "UpdateSecret" });

export const secretSortFields = ["created_at", "name"] as const;
export type SecretSortField = (typeof secretSortFields)[number];

const tag = "Secrets";
const query = z.strictObject({ ...pageQuery, sort: sortQuery(secretSortFields) });
const named = { secret_name: z.string() };
const ofAgent = { agent_id: AgentRef };
const deleted = single(z.object({ name: SecretName, deleted: z.literal(true) }));
const replaced =
  "Takes effect with the next call on every worker. A new host needs `value` again, so that a stored secret cannot be sent to another host without it.";
const gone = "Calls that refer to the secret are refused from then on.";

export const secretOperations = {
  "POST /v1/secrets": {
    id: "createSecret",
    tag,
    summary: "Create secret",
    description: "For all agents of the organisation. An agent's own secret of the same name takes precedence.",
    permission: "manage",
    agents: "none",
    body: CreateSecret,
    secretBody: true,
    status: 201,
    response: single(Secret),
  },
  "GET /v1/secrets": {
    id: "listSecrets",
    tag,
    summary: "List secrets",
    description: "Secrets for all agents of the organisation, without their values.",
    permission: "read",
    agents: "none",
    query,
    status: 200,
    response: list(Secret),
  },
  "GET /v1/secrets/{secret_name}": {
    id: "getSecret",
    tag,
    summary: "Get secret",
    permission: "read",
    agents: "none",
    params: z.strictObject(named),
    status: 200,
    response: single(Secret),
    errors: ["not_found"],
  },
  "PATCH /v1/secrets/{secret_name}": {
    id: "updateSecret",
    tag,
    summary: "Update secret",
    description: replaced,
    permission: "manage",
    agents: "none",
    params: z.strictObject(named),
    body: UpdateSecret,
    secretBody: true,
    status: 200,
    response: single(Secret),
    errors: ["not_found"],
  },
  "DELETE /v1/secrets/{secret_name}": {
    id: "deleteSecret",
    tag,
    summary: "Delete secret",
    description: gone,
    permission: "manage",
    agents: "none",
    params: z.strictObject(named),
    status: 200,
    response: deleted,
    errors: ["not_found"],
  },
  "POST /v1/agents/{agent_id}/secrets": {
    id: "createAgentSecret",
    tag,
    summary: "Create secret of an agent",
    description: "For this agent alone. It takes precedence over the organisation's secret of the same name.",
    permission: "manage",
    params: z.strictObject(ofAgent),
    body: CreateSecret,
    secretBody: true,
    status: 201,
    response: single(Secret),
    errors: ["not_found"],
  },
  "GET /v1/agents/{agent_id}/secrets": {
    id: "listAgentSecrets",
    tag,
    summary: "List secrets of an agent",
    description: "The agent's own secrets, without their values. It can use the organisation's too.",
    permission: "read",
    params: z.strictObject(ofAgent),
    query,
    status: 200,
    response: list(Secret),
    errors: ["not_found"],
  },
  "GET /v1/agents/{agent_id}/secrets/{secret_name}": {
    id: "getAgentSecret",
    tag,
    summary: "Get secret of an agent",
    permission: "read",
    params: z.strictObject({ ...ofAgent, ...named }),
    status: 200,
    response: single(Secret),
    errors: ["not_found"],
  },
  "PATCH /v1/agents/{agent_id}/secrets/{secret_name}": {
    id: "updateAgentSecret",
    tag,
    summary: "Update secret of an agent",
    description: replaced,
    permission: "manage",
    params: z.strictObject({ ...ofAgent, ...named }),
    body: UpdateSecret,
    secretBody: true,
    status: 200,
    response: single(Secret),
    errors: ["not_found"],
  },
  "DELETE /v1/agents/{agent_id}/secrets/{secret_name}": {
    id: "deleteAgentSecret",
    tag,
    summary: "Delete secret of an agent",
    description: gone,
    permission: "manage",
    params: z.strictObject({ ...ofAgent, ...named }),
    status: 200,
    response: deleted,
    errors: ["not_found"],
  },
} as const satisfies OperationTable;
export type SecretOperationKey = keyof typeof secretOperations;
