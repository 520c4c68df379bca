import { z } from "zod";
import { list, pageQuery, single, sortQuery, Timestamp } from "./envelopes.ts";
import { AgentId, AgentRef, KeyId, OrganisationId } from "./ids.ts";
import type { OperationTable } from "./operation.ts";
import { Permission, Role } from "./permissions.ts";

export const tiers = ["free", "pro", "enterprise"] as const;
export const Tier = z.enum(tiers).meta({ id: "Tier" });
export type Tier = z.infer<typeof Tier>;

/**
 * What each tier may do: requests (`burst` at once, `requestsPerMinute` on and on) and runs at the same time; for how many days it
 * sees logs and metrics; and how many memories an agent may have.
 */
export const tierLimits = {
  free: { requestsPerMinute: 60, burst: 100, concurrentRuns: 20, logDays: 7, memoriesPerAgent: 10_000 },
  pro: { requestsPerMinute: 1000, burst: 2000, concurrentRuns: 200, logDays: 14, memoriesPerAgent: 1_000_000 },
  enterprise: {
    requestsPerMinute: 10_000,
    burst: 20_000,
    concurrentRuns: 2000,
    logDays: 30,
    memoriesPerAgent: 10_000_000,
  },
} as const satisfies Record<
  Tier,
  { requestsPerMinute: number; burst: number; concurrentRuns: number; logDays: number; memoriesPerAgent: number }
>;

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
    rotated_from: KeyId.nullable().describe("The key this one replaces, if it came from a rotation."),
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
    agent_id: AgentRef.min(1)
      .max(128)
      .optional()
      .describe("Id or name of the one agent the key may reach; left out, it reaches all."),
    permissions: z.array(Permission).min(1).optional().describe("Either this or `role`."),
    role: Role.optional().describe("Either this or `permissions`."),
    expires_at: z.iso.datetime({ offset: true }).optional(),
  })
  .meta({ id: "CreateKey" });

const grantFields = CreateKey.shape;
const UpdateKey = z
  .strictObject({
    name: grantFields.name.optional(),
    permissions: grantFields.permissions,
    role: grantFields.role,
    expires_at: z.iso.datetime({ offset: true }).nullable().optional().describe("null: it never expires."),
  })
  .meta({ id: "UpdateKey" });

const RotateKey = z
  .strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(7 * 86_400)
      .default(86_400)
      .describe("How long the old key goes on working beside the new one: up to 7 days, one day unless set."),
  })
  .meta({ id: "RotateKey" });

const CreatedApiKey = single(ApiKey.extend({ key: z.string().regex(keyPattern) }).meta({ id: "CreatedApiKey" }));
const RevokedApiKey = single(z.object({ id: KeyId, revoked_at: Timestamp }));
const params = z.strictObject({ key_id: z.string().min(1) });
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
    response: CreatedApiKey,
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
      agent_id: AgentRef.min(1).max(128).optional().describe("Only keys of this agent (id or name)."),
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
    params,
    status: 200,
    response: RevokedApiKey,
    errors: ["not_found"],
  },
  "PATCH /v1/keys/{key_id}": {
    id: "updateKey",
    tag,
    summary: "Update API key",
    description:
      "Changes its name, what it may do or when it ends, from its next request on. Never to more than the caller holds.",
    permission: "manage",
    params,
    body: UpdateKey,
    status: 200,
    response: single(ApiKey),
    errors: ["not_found", "conflict"],
  },
  "POST /v1/keys/{key_id}/rotate": {
    id: "rotateKey",
    tag,
    summary: "Rotate API key",
    description:
      "Makes a new key with the same rights and shows it once. The old one ends when the overlap is over, at once if it is 0.",
    permission: "manage",
    params,
    body: RotateKey,
    status: 201,
    response: CreatedApiKey,
    errors: ["not_found", "conflict"],
  },
  "POST /v1/keys/revoke-leaked": {
    id: "revokeLeakedKey",
    tag,
    summary: "Revoke a leaked API key",
    description: "Whoever finds a key may end it by presenting it: no other key is needed. Limited by address.",
    permission: "public",
    body: z.strictObject({ key: z.string().max(256) }).meta({ id: "RevokeLeakedKey" }),
    status: 200,
    response: RevokedApiKey,
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
