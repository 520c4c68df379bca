import type { Permission, Role } from "@perch/contract";
import type { Scope } from "../../auth/caller.ts";
import { isWellFormedToken } from "../../auth/key-token.ts";
import { findKeyByDigest, keyStatus } from "../../auth/presented-key.ts";
import type { OrganisationChanges } from "../../cache/organisation-changes.ts";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import { ApiError, conflict, notFound } from "../../platform/api-error.ts";
import { single } from "../../platform/envelopes.ts";
import { parsePublicId, toPublicId } from "../../platform/ids.ts";
import type { Digest } from "../../platform/secrets.ts";
import { insertEntryWithoutCaller } from "../audit/audit-entry.ts";
import type { Handlers } from "../handlers.ts";
import type { Quotas } from "../quotas/quotas.ts";
import type { FindUsage } from "../quotas/usage.ts";
import { issueKey } from "./issue-key.ts";
import * as queries from "./key-queries.ts";
import { patchedGrant, refuseEscalation } from "./key-rules.ts";
import { toKey } from "./to-key.ts";

export interface KeyDeps {
  readonly db: Database;
  readonly changes: OrganisationChanges;
  readonly keyDigest: Digest;
  readonly quotas: Quotas;
  readonly findUsage: FindUsage;
  readonly now: () => Date;
}

type LifecycleKey = "PATCH /v1/keys/{key_id}" | "POST /v1/keys/{key_id}/rotate" | "POST /v1/keys/revoke-leaked";

function parseKeyId(publicId: string): string {
  const id = parsePublicId("key", publicId);
  if (!id) throw notFound("key", publicId);
  return id;
}

async function getKeyForUpdate(trx: OrganisationTransaction, scope: Scope, publicId: string): Promise<queries.KeyRow> {
  const key = await queries.findKeyForUpdate(trx, scope, parseKeyId(publicId));
  if (!key) throw notFound("key", publicId);
  return key;
}

/** Operations on existing keys: update, rotate, and revoke a leaked one without authentication. */
export const keyLifecycleHandlers = ({ db, changes, keyDigest, quotas, now }: KeyDeps) =>
  ({
    "PATCH /v1/keys/{key_id}": ({ params, body }, { caller, scope, change }) =>
      change(async (trx) => {
        const key = await getKeyForUpdate(trx, scope, params.key_id);
        if (key.revoked_at) throw conflict("This key is revoked, which cannot be undone. Create a new one.");
        const { changesRights, ...grant } = patchedGrant(key, body);
        if (changesRights) refuseEscalation(caller, grant.permissions, grant.expires_at, now());
        // An expired key that gets a later expiry is one more that works.
        if (keyStatus(key, now()) === "expired" && body.expires_at !== undefined)
          await quotas.requireRoom(trx, caller.organisation, "keys");
        return single(
          toKey(await queries.updateKey(trx, scope, key.id, { name: body.name ?? key.name, ...grant }), now()),
        );
      }),

    "POST /v1/keys/{key_id}/rotate": ({ params, body }, { caller, scope, change }) =>
      change(async (trx) => {
        await queries.findAgentOfKeyForUpdate(trx, scope, parseKeyId(params.key_id));
        const old = await getKeyForUpdate(trx, scope, params.key_id);
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
        // Without an overlap there is one key after it, as before.
        if (body.overlap_seconds > 0) await quotas.requireRoom(trx, caller.organisation, "keys");
        const { row, token } = await issueKey(trx, keyDigest, scope, {
          agentId: old.agent_id,
          name: old.name,
          role: old.role as Role | null,
          permissions,
          createdBy: caller.keyId,
          rotatedFrom: old.id,
          expiresAt: old.expires_at,
        });
        const overlapEnds = new Date(at.getTime() + body.overlap_seconds * 1000);
        const oldEnds = old.expires_at && old.expires_at < overlapEnds ? old.expires_at : overlapEnds;
        await queries.updateKey(trx, scope, old.id, { expires_at: oldEnds });
        return single({ ...toKey(row, at), key: token });
      }),

    "POST /v1/keys/revoke-leaked": async ({ body }, { requestId, address }) => {
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
            requestId,
            address,
          });
          return queries.updateKeyRevokedAt(trx, scope, found.id);
        }));
      if (!revokedAt) throw new Error(`key ${found.id} disappeared before it could be revoked`);
      return single({ id: toPublicId("key", found.id), revoked_at: revokedAt.toISOString() });
    },
  }) satisfies Handlers<LifecycleKey>;
