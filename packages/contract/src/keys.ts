import { z } from "zod";
import { CurrentSession } from "./console-sessions.ts";
import { Instant, list, pageQuery, single, sortQuery, Timestamp } from "./envelopes.ts";
import { AgentId, AgentRef, KeyId, OrganisationId } from "./ids.ts";
import type { OperationTable } from "./operation.ts";
import { Permission, Role } from "./permissions.ts";
import { Tier, TierLimits, Usage } from "./tiers.ts";

export const keyPattern = /^perch_[0-9A-Za-z]{46}$/;

export const KeyStatus = z.enum(["active", "expired", "revoked"]).meta({ id: "KeyStatus" });
export type KeyStatus = z.infer<typeof KeyStatus>;

export const ApiKey = z
  .object({
    id: KeyId,
    name: z.string(),
    agent_id: AgentId.nullable().describe(
      "The only agent that this key can access. null: all agents of the organisation.",
    ),
    role: Role.nullable().describe("The role that the key was created with, if any."),
    permissions: z.array(Permission),
    prefix: z.string().describe("First characters of the key, to identify it."),
    status: KeyStatus,
    created_by: KeyId.nullable().describe("The key that created this one. null for the organisation's first key."),
    rotated_from: KeyId.nullable().describe("The key that this one replaced in a rotation."),
    created_at: Timestamp,
    expires_at: Timestamp.nullable(),
    last_used_at: Timestamp.nullable().describe("May be a few seconds out of date."),
    revoked_at: Timestamp.nullable(),
  })
  .meta({ id: "ApiKey" });
export type ApiKey = z.infer<typeof ApiKey>;

export const Me = z
  .object({
    organisation: z.object({ id: OrganisationId, name: z.string(), tier: Tier }),
    key: ApiKey.pick({ name: true, agent_id: true, role: true, permissions: true, expires_at: true })
      .extend({
        id: z.string().describe("Id of the key; for a person who signed in to the console, of the session."),
        second_factor: z.boolean().describe("Whether the key has a confirmed second factor. A person has none here."),
      })
      .describe("The API key of the request. For a person, what a key with the person's role would be."),
    session: CurrentSession.nullable().describe("The session in the console; null for a request with an API key."),
    usage: Usage.nullable().describe(
      "What the organisation has, and how much its tier allows. null for a key that belongs to one agent.",
    ),
    limits: TierLimits.describe("What else the tier allows."),
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
      .describe("Id or name of the only agent that the key can access. The default is all agents."),
    permissions: z
      .array(Permission)
      .min(1)
      .max(Permission.options.length)
      .optional()
      .describe("Give either `permissions` or `role`."),
    role: Role.optional().describe("Give either `role` or `permissions`."),
    expires_at: Instant.optional(),
  })
  .meta({ id: "CreateKey" });

const grantFields = CreateKey.shape;
const UpdateKey = z
  .strictObject({
    name: grantFields.name.optional(),
    permissions: grantFields.permissions,
    role: grantFields.role,
    expires_at: Instant.nullable().optional().describe("null: the key never expires."),
  })
  .meta({ id: "UpdateKey" });

const RotateKey = z
  .strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(7 * 86_400)
      .default(86_400)
      .describe("How long the old key keeps working: up to 7 days. The default is one day."),
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
      "The response contains the key. No other operation shows it. A key cannot have more permissions, access more agents or last longer than the key that creates it. `approve` is the exception: a key with `manage` may give it without having it, unless the organisation forbids it (`manage_grants_approve`).",
    permission: "manage",
    body: CreateKey,
    status: 201,
    response: CreatedApiKey,
    etag: true,
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
  "GET /v1/keys/{key_id}": {
    id: "getKey",
    tag,
    summary: "Get API key",
    description: "What the list shows of one key. The key itself is never shown again.",
    permission: "manage",
    params,
    status: 200,
    response: single(ApiKey),
    etag: true,
    errors: ["not_found"],
  },
  "DELETE /v1/keys/{key_id}": {
    id: "revokeKey",
    tag,
    summary: "Revoke API key",
    description: "The key stops working immediately. Revoking a revoked key changes nothing.",
    permission: "manage",
    params,
    status: 200,
    response: RevokedApiKey,
    ifMatch: true,
    errors: ["not_found"],
  },
  "PATCH /v1/keys/{key_id}": {
    id: "updateKey",
    tag,
    summary: "Update API key",
    description:
      "Changes the key's name, permissions or expiry. Takes effect with the key's next request. The key cannot get more than the calling key has, but for `approve`, which a key with `manage` may give without having it, unless the organisation forbids it.",
    permission: "manage",
    params,
    body: UpdateKey,
    status: 200,
    response: single(ApiKey),
    etag: true,
    ifMatch: true,
    errors: ["not_found", "conflict"],
  },
  "POST /v1/keys/{key_id}/rotate": {
    id: "rotateKey",
    tag,
    summary: "Rotate API key",
    description:
      "Creates a new key with the same permissions and shows it once. The old key stops working after the overlap, or immediately if the overlap is 0. The caller must be allowed to give the key's permissions, as if it created the key.",
    permission: "manage",
    params,
    body: RotateKey,
    status: 201,
    response: CreatedApiKey,
    etag: true,
    ifMatch: true,
    errors: ["not_found", "conflict"],
  },
  "POST /v1/keys/{key_id}/begin-mfa": {
    id: "beginMfa",
    tag,
    summary: "Begin the enrolment of a second factor",
    description:
      "Returns a token with which the holder of this key can enrol a second factor: `POST /v1/mfa` with the token in `X-MFA-Code`. Where the security settings demand a second factor, no key can enrol one without a token, and the calling key must have a second factor itself. The token is not kept: a retry with the same `Idempotency-Key` is 409.",
    permission: "manage",
    params,
    status: 201,
    response: single(
      z
        .object({
          key_id: KeyId,
          token: z.string().describe("Works only with this key. Shown only once."),
          expires_at: Timestamp,
        })
        .meta({ id: "MfaEnrolmentToken" }),
    ),
    shownOnce: "If you did not get it, begin again with a new Idempotency-Key.",
    errors: ["not_found", "conflict"],
  },
  "POST /v1/keys/revoke-leaked": {
    id: "revokeLeakedKey",
    tag,
    summary: "Revoke a leaked API key",
    description:
      "Revokes the key in the request body. Needs no other key, so that anyone who finds a leaked key can revoke it. Rate-limited by address.",
    permission: "public",
    agents: "none",
    body: z.strictObject({ key: z.string().max(256) }).meta({ id: "RevokeLeakedKey" }),
    status: 200,
    response: RevokedApiKey,
    errors: ["not_found"],
  },
  "GET /v1/me": {
    id: "getMe",
    tag,
    summary: "Get current key",
    description:
      "The API key or the session of this request, its organisation, and what the organisation has and may have.",
    permission: null,
    agents: "none",
    status: 200,
    response: single(Me),
  },
} as const satisfies OperationTable;
export type KeyOperationKey = keyof typeof keyOperations;
