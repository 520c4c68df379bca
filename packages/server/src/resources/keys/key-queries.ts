import type { KeySortField, KeyStatus, Permission, Role } from "@perch/contract";
import { type Selectable, sql } from "kysely";
import type { Scope } from "../../auth/caller.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { ApiKeys } from "../../db/generated-rows.ts";
import { ofVisibleAgent } from "../../db/of-visible-agent.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { sortOrder } from "../envelopes.ts";

export type KeyRow = Omit<Selectable<ApiKeys>, "creators" | "digest" | "organisation_id">;
const columns = [
  "id",
  "agent_id",
  "name",
  "prefix",
  "role",
  "permissions",
  "created_by",
  "rotated_from",
  "origin_id",
  "created_at",
  "expires_at",
  "last_used_at",
  "revoked_at",
] as const satisfies (keyof KeyRow)[];

/** The keys this caller can see: all of its organisation, or those of its agent if it is bound to one. */
const visibleKeys = (trx: OrganisationTransaction, scope: Scope) =>
  trx.selectFrom("api_keys").where("organisation_id", "=", scope.organisationId).where(ofVisibleAgent(scope));

export interface KeyFilter {
  readonly agentId?: string | undefined;
  readonly status?: KeyStatus | undefined;
}

const filteredKeys = (trx: OrganisationTransaction, scope: Scope, { agentId, status }: KeyFilter) =>
  visibleKeys(trx, scope)
    .$if(agentId !== undefined, (query) => query.where("agent_id", "=", agentId ?? null))
    .$if(status === "revoked", (query) => query.where("revoked_at", "is not", null))
    .$if(status === "expired", (query) =>
      query.where("revoked_at", "is", null).where("expires_at", "<=", sql<Date>`now()`),
    )
    .$if(status === "active", (query) =>
      query
        .where("revoked_at", "is", null)
        .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", sql<Date>`now()`)])),
    );

export interface KeyPage {
  readonly limit: number;
  readonly offset: number;
  readonly sort: KeySortField | `-${KeySortField}`;
}

export const listKeys = (
  trx: OrganisationTransaction,
  scope: Scope,
  filter: KeyFilter,
  { limit, offset, sort }: KeyPage,
) => {
  const [field, direction] = sortOrder(sort);
  return filteredKeys(trx, scope, filter)
    .select(columns)
    .orderBy(field, direction)
    .orderBy("id", direction)
    .limit(limit)
    .offset(offset)
    .execute();
};

/** Counts rows: fine for the thousands of keys an organisation has, some 10 ms at 100,000. */
export async function countKeys(trx: OrganisationTransaction, scope: Scope, filter: KeyFilter): Promise<number> {
  const row = await filteredKeys(trx, scope, filter)
    .select((eb) => eb.fn.countAll<string>().as("keys"))
    .executeTakeFirstOrThrow();
  return Number(row.keys);
}

export interface NewKey {
  readonly id: string;
  readonly agentId: string | null;
  readonly name: string;
  readonly digest: Buffer;
  readonly prefix: string;
  readonly role: Role | null;
  readonly permissions: readonly Permission[];
  readonly createdBy: string | null;
  /** Who made it and the keys that were rotated to it, as `identityOf` names callers. */
  readonly creators: readonly string[];
  /** The key that this one replaces. */
  readonly rotatedFrom?: Pick<KeyRow, "id" | "rotated_from" | "origin_id">;
  readonly expiresAt: Date | null;
}

/** As `find_key_with_origin` has it. */
export const originOf = ({ id, rotated_from, origin_id }: Pick<KeyRow, "id" | "rotated_from" | "origin_id">): string =>
  origin_id ?? rotated_from ?? id;

export const insertKey = (
  trx: OrganisationTransaction,
  { organisationId }: Pick<Scope, "organisationId">,
  key: NewKey,
): Promise<KeyRow> =>
  trx
    .insertInto("api_keys")
    .values({
      id: key.id,
      organisation_id: organisationId,
      agent_id: key.agentId,
      name: key.name,
      digest: key.digest,
      prefix: key.prefix,
      role: key.role,
      permissions: [...key.permissions],
      created_by: key.createdBy,
      creators: [...key.creators],
      rotated_from: key.rotatedFrom?.id ?? null,
      origin_id: key.rotatedFrom ? originOf(key.rotatedFrom) : null,
      expires_at: key.expiresAt,
    })
    .returning(columns)
    .executeTakeFirstOrThrow();

/**
 * Who made the key, rotated it or changed its rights, as `identityOf` names callers. For keys that a release before made,
 * only the key that made them is known.
 */
export async function listCreators(
  trx: OrganisationTransaction,
  { organisationId }: Pick<Scope, "organisationId">,
  originId: string,
): Promise<readonly string[]> {
  const rows = await trx
    .selectFrom("api_keys as k")
    .leftJoin("api_keys as c", (join) =>
      join.onRef("c.organisation_id", "=", "k.organisation_id").onRef("c.id", "=", "k.created_by"),
    )
    .select([
      "k.creators",
      sql<string | null>`'key:' || coalesce(c.origin_id, c.rotated_from, c.id, k.created_by)`.as("creator"),
    ])
    .where("k.organisation_id", "=", organisationId)
    .where((eb) => eb.or([eb("k.id", "=", originId), eb("k.origin_id", "=", originId)]))
    .execute();
  const found = rows.flatMap(({ creators, creator }) => creators ?? (creator === null ? [] : [creator]));
  return [...new Set(found)];
}

export const findKey = (trx: OrganisationTransaction, scope: Scope, id: string): Promise<KeyRow | undefined> =>
  visibleKeys(trx, scope).where("id", "=", id).select(columns).executeTakeFirst();

/** Locks the row until the transaction ends, so that changes to one key are serialised. */
export const findKeyForUpdate = (trx: OrganisationTransaction, scope: Scope, id: string): Promise<KeyRow | undefined> =>
  visibleKeys(trx, scope).where("id", "=", id).select(columns).forUpdate().executeTakeFirst();

/** The agent that a key belongs to; null for a key of the organisation, undefined if the key does not exist. */
export const findAgentOfKey = async (
  trx: OrganisationTransaction,
  scope: Scope,
  id: string,
): Promise<string | null | undefined> =>
  (await visibleKeys(trx, scope).where("id", "=", id).select("agent_id").executeTakeFirst())?.agent_id;

/** Deleting an agent locks the agent first and then its keys; rotating a key must lock in the same order. */
export const findAgentOfKeyForUpdate = (
  trx: OrganisationTransaction,
  scope: Scope,
  id: string,
): Promise<{ id: string } | undefined> =>
  trx
    .selectFrom("agents")
    .select("agents.id")
    .where("agents.organisation_id", "=", scope.organisationId)
    .where(
      "agents.id",
      "in",
      visibleKeys(trx, scope).where("api_keys.id", "=", id).select("api_keys.agent_id").$castTo<{ agent_id: string }>(),
    )
    .forUpdate()
    .executeTakeFirst();

/** The key that replaces this one, if it was rotated and the new key is not revoked. */
export const findSuccessor = (
  trx: OrganisationTransaction,
  { organisationId }: Scope,
  id: string,
): Promise<{ id: string } | undefined> =>
  trx
    .selectFrom("api_keys")
    .select("id")
    .where("organisation_id", "=", organisationId)
    .where("rotated_from", "=", id)
    .where("revoked_at", "is", null)
    .executeTakeFirst();

interface KeyChange {
  readonly creators?: string[] | undefined;
  readonly name?: string | undefined;
  readonly role?: Role | null | undefined;
  readonly permissions?: Permission[] | undefined;
  readonly expires_at?: Date | null | undefined;
}

export const updateKey = (
  trx: OrganisationTransaction,
  { organisationId }: Scope,
  id: string,
  change: KeyChange,
): Promise<KeyRow> =>
  trx
    .updateTable("api_keys")
    // An update needs at least one column, and `change` may be empty.
    .set({ ...change, id })
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .returning(columns)
    .executeTakeFirstOrThrow();

/** Returns when the key was revoked: now, or at the first revocation. Of a key that the caller can see: find it first. */
export async function updateKeyRevokedAt(
  trx: OrganisationTransaction,
  { organisationId }: Pick<Scope, "organisationId">,
  id: string,
): Promise<Date> {
  const row = await trx
    .updateTable("api_keys")
    .set({ revoked_at: sql<Date>`coalesce(revoked_at, now())` })
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .returning(sql<Date>`revoked_at`.as("revoked_at"))
    .executeTakeFirstOrThrow();
  return row.revoked_at;
}

export const updateAgentKeysRevokedAt = async (
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
): Promise<void> => {
  await trx
    .updateTable("api_keys")
    .set({ revoked_at: sql`now()` })
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .where("revoked_at", "is", null)
    .execute();
};
