import { z } from "zod";
import { list, pageQuery, single, sortQuery, Timestamp } from "./envelopes.ts";
import { AgentId, AgentRef, KeyId, OrganisationId } from "./ids.ts";
import type { OperationTable } from "./operation.ts";
import { Permission, Role } from "./permissions.ts";

export const tiers = ["free", "pro", "enterprise"] as const;
export const Tier = z.enum(tiers).meta({ id: "Tier" });
export type Tier = z.infer<typeof Tier>;

export const keyPattern = /^perch_[0-9A-Za-z]{46}$/;

export const KeyStatus = z.enum(["active", "expired", "revoked"]).meta({ id: "KeyStatus" });
export type KeyStatus = z.infer<typeof KeyStatus>;

export const ApiKey = z
  .object({
    id: KeyId,
    name: z.string(),
    agent_id: AgentId.nullable().describe("The one agent this key reaches; null means all agents of the organisation."),
    role: Role.nullable().describe("The role it was made with, if any."),
    permissions: z.array(Permission),
    prefix: z.string().describe("The first characters of the key, to recognise it by."),
    status: KeyStatus,
    created_by: KeyId.nullable().describe("The key that made this one; null for an organisation's first."),
    created_at: Timestamp,
    expires_at: Timestamp.nullable(),
    last_used_at: Timestamp.nullable().describe("Written in batches: may be some seconds late."),
    revoked_at: Timestamp.nullable(),
  })
  .meta({ id: "ApiKey" });
export type ApiKey = z.infer<typeof ApiKey>;

export const Me = z
  .object({
    organisation: z.object({ id: OrganisationId, name: z.string(), tier: Tier }),
    key: ApiKey.pick({ id: true, name: true, agent_id: true, role: true, permissions: true, expires_at: true }),
  })
  .meta({ id: "Me" });

export const keySortFields = ["created_at", "name"] as const;
export type KeySortField = (typeof keySortFields)[number];

const CreateKey = z
  .strictObject({
    name: z.string().trim().min(1).max(100),
    agent_id: AgentRef.max(128)
      .optional()
      .describe("Id or name of the one agent the key may reach; left out, it reaches all."),
    permissions: z.array(Permission).min(1).optional().describe("Either this or `role`."),
    role: Role.optional().describe("Either this or `permissions`."),
    expires_at: z.iso.datetime({ offset: true }).optional(),
  })
  .meta({ id: "CreateKey" });

const tag = "API keys";

export const keyOperations = {
  "POST /v1/keys": {
    id: "createKey",
    tag,
    summary: "Create API key",
    description:
      "The answer holds the key itself, once: it is not kept and cannot be shown again. A key never gives more than its maker holds: not in permissions, not in agents, not in time.",
    permission: "manage",
    body: CreateKey,
    status: 201,
    response: single(ApiKey.extend({ key: z.string().regex(keyPattern) }).meta({ id: "CreatedApiKey" })),
    errors: ["not_found"],
  },
  "GET /v1/keys": {
    id: "listKeys",
    tag,
    summary: "List API keys",
    permission: "manage",
    query: z.strictObject({
      ...pageQuery,
      sort: sortQuery(keySortFields),
      agent_id: AgentRef.max(128).optional().describe("Only keys of this agent (id or name)."),
      status: KeyStatus.optional(),
    }),
    status: 200,
    response: list(ApiKey),
    errors: ["not_found"],
  },
  "DELETE /v1/keys/{key_id}": {
    id: "revokeKey",
    tag,
    summary: "Revoke API key",
    description: "The key stops working at once. Revoking twice is the same as once.",
    permission: "manage",
    params: z.strictObject({ key_id: z.string().min(1) }),
    status: 200,
    response: single(z.object({ id: KeyId, revoked_at: Timestamp })),
    errors: ["not_found"],
  },
  "GET /v1/me": {
    id: "getMe",
    tag,
    summary: "Who am I",
    description: "What the presented key is and may do.",
    permission: null,
    status: 200,
    response: single(Me),
  },
} as const satisfies OperationTable;
