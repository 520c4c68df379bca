import { type AgentSortField, type AgentStatus, agentNamePattern, type SecuritySettings } from "@perch/contract";
import { type Selectable, sql } from "kysely";
import type { StoredAuth } from "../../auth/agent-auth.ts";
import type { Scope } from "../../auth/caller.ts";
import type { GracePeriod } from "../../auth/grace-period.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { Agents } from "../../db/generated-rows.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { parsePublicId } from "../../platform/ids.ts";
import { sortOrder } from "../envelopes.ts";
import type { Transition } from "../transitions.ts";
import { agentTransitions, type StoredDefinition } from "./agent-rules.ts";

export type AgentRow = Selectable<Agents>;

/** The agents this caller can see: those of its organisation that are not deleted, or only its own if its key is bound to one. */
const visibleAgents = (trx: OrganisationTransaction, { organisationId, onlyAgentId }: Scope) => {
  const query = trx.selectFrom("agents").where("organisation_id", "=", organisationId).where("deleted_at", "is", null);
  return onlyAgentId === null ? query : query.where("id", "=", onlyAgentId);
};

/** By id or by name: names have no underscore, ids always do. */
const agentByRef = (trx: OrganisationTransaction, scope: Scope, ref: string) => {
  const id = parsePublicId("agent", ref);
  if (id) return visibleAgents(trx, scope).where("id", "=", id);
  return agentNamePattern.test(ref) ? visibleAgents(trx, scope).where("name", "=", ref) : undefined;
};

export const findAgent = async (
  trx: OrganisationTransaction,
  scope: Scope,
  ref: string,
): Promise<AgentRow | undefined> => agentByRef(trx, scope, ref)?.selectAll().executeTakeFirst();

/** Also of a deleted agent: runs of it may be under way. */
export async function findSecurity(
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
): Promise<SecuritySettings> {
  const row = await trx
    .selectFrom("agents")
    .select("security")
    .where("organisation_id", "=", organisationId)
    .where("id", "=", agentId)
    .executeTakeFirst();
  return (row?.security ?? {}) as SecuritySettings;
}

/** Word for word the condition of an index. */
const hasSettings = sql<boolean>`(auth is not null or security <> '{}'::jsonb)`;

/** An agent's own settings, without its definition. */
export type GuardedAgent = Pick<AgentRow, "id" | "organisation_id" | "name" | "security" | "auth" | "auth_secrets">;

/** The agents with their own settings. Includes deleted ones, whose settings still count for their remaining data. */
export const listGuardedAgents = (trx: OrganisationTransaction, organisationId: string): Promise<GuardedAgent[]> =>
  trx
    .selectFrom("agents")
    .select(["id", "organisation_id", "name", "security", "auth", "auth_secrets"])
    .where("organisation_id", "=", organisationId)
    .where(hasSettings)
    .execute();

/** Locks the row until the transaction ends, so that changes to one agent are serialised. */
export const findAgentForUpdate = async (
  trx: OrganisationTransaction,
  scope: Scope,
  ref: string,
): Promise<AgentRow | undefined> => agentByRef(trx, scope, ref)?.selectAll().forUpdate().executeTakeFirst();

/** Whether an agent in scope demands a second factor for anything. */
export async function hasAgentWithMfa(trx: OrganisationTransaction, scope: Scope): Promise<boolean> {
  const row = await visibleAgents(trx, scope)
    .select("id")
    .where(hasSettings)
    .where(sql<boolean>`security @> '{"mfa": {"enabled": true}}'`)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export interface AgentPage {
  readonly limit: number;
  readonly offset: number;
  readonly sort: AgentSortField | `-${AgentSortField}`;
}

export async function listAgents(trx: OrganisationTransaction, scope: Scope, { limit, offset, sort }: AgentPage) {
  const [field, direction] = sortOrder(sort);
  const query = visibleAgents(trx, scope).select(["id", "name", "status", "created_at"]).orderBy(field, direction);
  // Names are unique, and a second sort column would keep the index from providing the order.
  const ordered = field === "name" ? query : query.orderBy("id", direction);
  return ordered.limit(limit).offset(offset).execute();
}

/** Names of agents, newest first, without those whose settings refuse the caller. */
export const listAgentNames = (
  trx: OrganisationTransaction,
  scope: Scope,
  limit: number,
): Promise<Pick<AgentRow, "id" | "name">[]> =>
  visibleAgents(trx, scope)
    .select(["id", "name"])
    .where(sql<boolean>`id <> all (${[...(scope.hiddenAgentIds ?? [])]}::uuid[])`)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .execute();

/** By id or name, in one statement, however many are asked for. */
export async function listNamedAgents(
  trx: OrganisationTransaction,
  scope: Scope,
  refs: readonly string[],
): Promise<Pick<AgentRow, "id" | "name">[]> {
  const ids = refs.map((ref) => parsePublicId("agent", ref)).filter((id) => id !== undefined);
  return visibleAgents(trx, scope)
    .select(["id", "name"])
    .where(sql<boolean>`(id = any (${ids}::uuid[]) or name = any (${[...refs]}::text[]))`)
    .execute();
}

/** Exact and without a scan: triggers maintain the count. */
export async function countAgents(trx: OrganisationTransaction, scope: Scope): Promise<number> {
  if (scope.onlyAgentId !== null) {
    return (await visibleAgents(trx, scope).select("id").execute()).length;
  }
  const row = await trx
    .selectFrom("agent_counts")
    .select("agents")
    .where("organisation_id", "=", scope.organisationId)
    .executeTakeFirst();
  return Number(row?.agents ?? 0);
}

export interface AuthChange extends StoredAuth {
  readonly gracePeriod: GracePeriod | null;
}

/** undefined leaves `auth` unchanged, null removes it. */
const authColumns = (auth: AuthChange | null | undefined) => {
  if (auth === undefined) return {};
  if (auth === null) return { auth: null, auth_secrets: null, auth_set_by: null, auth_way_back_until: null };
  const { redacted, secrets, gracePeriod } = auth;
  return {
    auth: JSON.stringify(redacted),
    auth_secrets: secrets,
    auth_set_by: gracePeriod?.keyId ?? null,
    auth_way_back_until: gracePeriod?.until ?? null,
  };
};

interface NewAgent extends StoredDefinition {
  readonly id: string;
  readonly name: string;
  readonly auth?: AuthChange | null | undefined;
}

/** Undefined when the name is taken. */
export const insertAgent = (
  trx: OrganisationTransaction,
  { organisationId }: Scope,
  { id, name, definition, security, auth }: NewAgent,
): Promise<AgentRow | undefined> =>
  trx
    .insertInto("agents")
    .values({
      id,
      name,
      organisation_id: organisationId,
      status: agentTransitions.create.to,
      definition: JSON.stringify(definition),
      security: JSON.stringify(security),
      ...authColumns(auth),
    })
    .onConflict((conflict) => conflict.columns(["organisation_id", "name"]).where("deleted_at", "is", null).doNothing())
    .returningAll()
    .executeTakeFirst();

const updateAgentRow = (trx: OrganisationTransaction, { organisationId }: Scope, id: string) =>
  trx
    .updateTable("agents")
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    // A millisecond later at least, because the answer shows no less: a change that it does not show must change its tag too.
    .set({ updated_at: sql`greatest(now(), updated_at + interval '1 millisecond')` });

export const updateAgentDefinition = (
  trx: OrganisationTransaction,
  scope: Scope,
  id: string,
  { definition, security }: StoredDefinition,
  auth?: AuthChange | null,
): Promise<AgentRow> =>
  updateAgentRow(trx, scope, id)
    .set({ definition: JSON.stringify(definition), security: JSON.stringify(security), ...authColumns(auth) })
    .returningAll()
    .executeTakeFirstOrThrow();

/** Undefined when the agent has another status than the transition starts from. */
export const updateAgentStatus = (
  trx: OrganisationTransaction,
  scope: Scope,
  id: string,
  { from, to }: Transition<AgentStatus>,
): Promise<AgentRow | undefined> =>
  updateAgentRow(trx, scope, id).where("status", "in", from).set({ status: to }).returningAll().executeTakeFirst();

/** The row stays, marked, for a background purge to find; no query of this file returns it again. */
export const deleteAgent = async (trx: OrganisationTransaction, scope: Scope, id: string): Promise<void> => {
  await updateAgentRow(trx, scope, id).set({ deleted_at: sql`now()` }).execute();
};

/** The next agents of the organisation, deleted ones among them, in the order of their ids. */
export async function listAgentIds(
  trx: OrganisationTransaction,
  organisationId: string,
  after: string | undefined,
  limit: number,
): Promise<string[]> {
  const rows = await trx
    .selectFrom("agents")
    .select("id")
    .where("organisation_id", "=", organisationId)
    .$if(after !== undefined, (query) => query.where("id", ">", after ?? ""))
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}
