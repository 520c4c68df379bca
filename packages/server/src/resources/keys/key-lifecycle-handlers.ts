import { isDeepStrictEqual } from "node:util";
import type { Permission, Role } from "@perch/contract";
import { type Caller, identityOf } from "../../auth/caller.ts";
import { isWellFormedToken } from "../../auth/key-token.ts";
import { findKeyByDigest, keyStatus } from "../../auth/presented-key.ts";
import type { OrganisationChanges } from "../../cache/organisation-changes.ts";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import { ApiError, conflict, notFound } from "../../platform/api-error.ts";
import { Unchanged } from "../../platform/change-results.ts";
import { parsePublicId, toPublicId } from "../../platform/ids.ts";
import type { Digest } from "../../platform/sealing.ts";
import { insertEntryWithoutCaller } from "../audit/audit-entry.ts";
import { single } from "../envelopes.ts";
import type { Handlers, RequestContext } from "../handlers.ts";
import type { FindUsage } from "../quotas/quota-usage.ts";
import type { Quotas } from "../quotas/quotas.ts";
import { requireMayGiveApprove } from "./approve-grants.ts";
import type { HasSecondFactor } from "./has-second-factor.ts";
import { issueKey } from "./issue-key.ts";
import * as queries from "./key-queries.ts";
import { patchedGrant, refuseEscalation, refuseOperateForAgent } from "./key-rules.ts";
import { toKey } from "./to-key.ts";

export interface KeyDeps {
  readonly db: Database;
  readonly changes: OrganisationChanges;
  readonly keyDigest: Digest;
  readonly quotas: Quotas;
  readonly findUsage: FindUsage;
  readonly hasSecondFactor: HasSecondFactor;
  /** Those that the owner of a session can sign in to. */
  readonly listOrganisations: (
    caller: Caller,
  ) => Promise<readonly { readonly id: string; readonly name: string; readonly role: Role | null }[]>;
  readonly now: () => Date;
}

type LifecycleKey =
  | "DELETE /v1/keys/{key_id}"
  | "PATCH /v1/keys/{key_id}"
  | "POST /v1/keys/{key_id}/rotate"
  | "POST /v1/keys/revoke-leaked";

/** Each successor has the whole list. */
const maxCreators = 100;

function parseKeyId(publicId: string): string {
  const id = parsePublicId("key", publicId);
  if (!id) throw notFound("key", publicId);
  return id;
}

async function lockKey(
  trx: OrganisationTransaction,
  { scope, requireMatch }: RequestContext,
  publicId: string,
  now: Date,
): Promise<queries.KeyRow> {
  const key = await queries.findKeyForUpdate(trx, scope, parseKeyId(publicId));
  if (!key) throw notFound("key", publicId);
  requireMatch(toKey(key, now));
  return key;
}

/** Who made the key, and the caller, who gives or gets its rights now. */
async function addCreator(
  trx: OrganisationTransaction,
  { caller, scope }: RequestContext,
  key: queries.KeyRow,
): Promise<string[]> {
  const creators = new Set([...(await queries.listCreators(trx, scope, queries.originOf(key))), identityOf(caller)]);
  if (creators.size > maxCreators)
    throw conflict(`More than ${maxCreators} keys and persons have changed this key. Make a new one instead.`);
  return [...creators];
}

/** Operations on existing keys: update, rotate, revoke, and revoke a leaked one without authentication. */
export const keyLifecycleHandlers = ({ db, changes, keyDigest, quotas, now }: KeyDeps) =>
  ({
    "DELETE /v1/keys/{key_id}": ({ params }, context) =>
      context.change(async (trx) => {
        const { id } = await lockKey(trx, context, params.key_id, now());
        const revokedAt = await queries.updateKeyRevokedAt(trx, context.scope, id);
        return single({ id: params.key_id, revoked_at: revokedAt.toISOString() });
      }),

    "PATCH /v1/keys/{key_id}": ({ params, body }, context) =>
      context.change(async (trx) => {
        const { caller, scope } = context;
        const key = await lockKey(trx, context, params.key_id, now());
        if (key.revoked_at) throw conflict("This key is revoked, which cannot be undone. Create a new one.");
        const { changesRights, ...grant } = patchedGrant(key, body);
        if (changesRights) {
          refuseEscalation(caller, grant.permissions, grant.expires_at, now());
          if (grant.permissions.includes("approve"))
            await requireMayGiveApprove(trx, caller, "Changing the permissions or the expiry of a key with `approve`");
        }
        refuseOperateForAgent(grant.permissions, key.agent_id);
        // An expired key that gets a later expiry is one more that works.
        if (keyStatus(key, now()) === "expired" && body.expires_at !== undefined)
          await quotas.requireRoom(trx, caller.organisation, "keys");
        const changed = { name: body.name ?? key.name, ...grant };
        if (isDeepStrictEqual({ ...key, ...changed }, key)) return new Unchanged(single(toKey(key, now())));
        const creators = changesRights ? await addCreator(trx, context, key) : undefined;
        return single(toKey(await queries.updateKey(trx, scope, key.id, { ...changed, creators }), now()));
      }),

    "POST /v1/keys/{key_id}/rotate": ({ params, body }, context) =>
      context.change(async (trx) => {
        const { caller, scope } = context;
        await queries.findAgentOfKeyForUpdate(trx, scope, parseKeyId(params.key_id));
        const old = await lockKey(trx, context, params.key_id, now());
        const at = now();
        if (keyStatus(old, at) !== "active")
          throw conflict(`This key is ${keyStatus(old, at)}. Make a new one instead.`);
        const successor = await queries.findSuccessor(trx, scope, old.id);
        if (successor)
          throw conflict(
            `This key was rotated already: ${toPublicId("key", successor.id)} replaces it. Rotate that one.`,
          );
        const permissions = old.permissions as Permission[];
        refuseEscalation(caller, permissions, old.expires_at, at);
        // The caller gets the new key.
        if (permissions.includes("approve")) await requireMayGiveApprove(trx, caller, "Rotating a key with `approve`");
        // Without an overlap there is one key after it, as before.
        if (body.overlap_seconds > 0) await quotas.requireRoom(trx, caller.organisation, "keys");
        const creators = await addCreator(trx, context, old);
        const { row, token } = await issueKey(trx, keyDigest, scope, {
          agentId: old.agent_id,
          name: old.name,
          role: old.role as Role | null,
          permissions,
          createdBy: caller.keyId,
          creators,
          rotatedFrom: old,
          expiresAt: old.expires_at,
        });
        const overlapEnds = new Date(at.getTime() + body.overlap_seconds * 1000);
        const oldEnds = old.expires_at && old.expires_at < overlapEnds ? old.expires_at : overlapEnds;
        await queries.updateKey(trx, scope, old.id, { expires_at: oldEnds });
        return single({ ...toKey(row, at), key: token });
      }),

    "POST /v1/keys/revoke-leaked": async ({ body }, { correlationId, address }) => {
      const found = isWellFormedToken(body.key) ? await findKeyByDigest(db.unscoped, keyDigest(body.key)) : undefined;
      if (!found) throw new ApiError("not_found", "This is not a key of this service.");
      const scope = { organisationId: found.organisation_id, onlyAgentId: null };
      // Reporting a revoked key again must not invalidate the organisation's caches each time.
      const revokedAt =
        found.revoked_at ??
        (await changes.commit(found.organisation_id, async (trx) => {
          await insertEntryWithoutCaller(trx, found.organisation_id, {
            actor: "public",
            operation: "revokeLeakedKey",
            resourceType: "key",
            resource: toPublicId("key", found.id),
            agent: found.agent_id === null ? null : { id: found.agent_id },
            correlationId,
            address,
          });
          return queries.updateKeyRevokedAt(trx, scope, found.id);
        }));
      return single({ id: toPublicId("key", found.id), revoked_at: revokedAt.toISOString() });
    },
  }) satisfies Handlers<LifecycleKey>;
