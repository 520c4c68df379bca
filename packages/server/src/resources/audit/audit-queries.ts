import type { AuditActor, AuditOutcome } from "@perch/contract";
import { type Selectable, sql } from "kysely";
import type { Scope } from "../../auth/caller.ts";
import { countUpTo } from "../../db/count-up-to.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { AuditLog } from "../../db/generated-rows.ts";
import { ofVisibleAgent } from "../../db/of-visible-agent.ts";
import { newUuid } from "../../platform/ids.ts";
import type { AuditPosition, ChangedResource } from "./audit-rules.ts";

export type AuditRow = Selectable<AuditLog>;

export interface NewAuditEntry extends ChangedResource {
  readonly actor: AuditActor;
  readonly keyId: string | null;
  readonly userId: string | null;
  readonly person: string | null;
  readonly sessionId: string | null;
  readonly operation: string;
  readonly resourceType: string;
  readonly address: string | null;
  readonly correlationId: string | null;
  readonly outcome: AuditOutcome;
  readonly details: { readonly fields?: readonly string[]; readonly reason?: string };
}

export async function insertAuditEntry(
  trx: OrganisationTransaction,
  organisationId: string,
  { agent, ...entry }: NewAuditEntry,
): Promise<void> {
  // Only an agent of this organisation: a refused request may have named another's.
  const agentId =
    agent &&
    sql<
      string | null
    >`(select id from agents where organisation_id = ${organisationId} and ${"name" in agent ? sql`name = ${agent.name} and deleted_at is null` : sql`id = ${agent.id}`})`;
  await trx
    .insertInto("audit_log")
    .values({
      organisation_id: organisationId,
      id: newUuid(),
      actor: entry.actor,
      key_id: entry.keyId,
      user_id: entry.userId,
      person: entry.person,
      session_id: entry.sessionId,
      operation: entry.operation,
      resource_type: entry.resourceType,
      resource: entry.resource,
      agent_id: agentId,
      address: entry.address,
      request_id: entry.correlationId,
      outcome: entry.outcome,
      details: JSON.stringify(entry.details),
    })
    .execute();
}

export interface AuditFilter {
  readonly keyId: string | undefined;
  readonly operation: string | undefined;
  readonly resource: string | undefined;
  readonly outcome: AuditOutcome | undefined;
  readonly from: Date | undefined;
  readonly until: Date | undefined;
}

const filteredEntries = (trx: OrganisationTransaction, scope: Scope, filter: AuditFilter) =>
  trx
    .selectFrom("audit_log")
    .where("organisation_id", "=", scope.organisationId)
    .where(ofVisibleAgent(scope))
    .$if(filter.keyId !== undefined, (query) => query.where("key_id", "=", filter.keyId ?? null))
    .$if(filter.operation !== undefined, (query) => query.where("operation", "=", filter.operation ?? ""))
    .$if(filter.resource !== undefined, (query) => query.where("resource", "=", filter.resource ?? null))
    .$if(filter.outcome !== undefined, (query) => query.where("outcome", "=", filter.outcome ?? ""))
    .$if(filter.from !== undefined, (query) => query.where("at", ">=", filter.from ?? new Date(0)))
    .$if(filter.until !== undefined, (query) => query.where("at", "<", filter.until ?? new Date(0)));

interface AuditPage {
  readonly limit: number;
  readonly offset: number;
  readonly before: AuditPosition | undefined;
}

export const listAuditEntries = (
  trx: OrganisationTransaction,
  scope: Scope,
  filter: AuditFilter,
  { limit, offset, before }: AuditPage,
): Promise<AuditRow[]> =>
  filteredEntries(trx, scope, filter)
    .selectAll()
    .$if(before !== undefined, (query) =>
      query.where((eb) => eb(eb.refTuple("at", "id"), "<", eb.tuple(before?.at ?? new Date(0), before?.id ?? ""))),
    )
    .orderBy("at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .offset(offset)
    .execute();

export const countAuditEntries = (
  trx: OrganisationTransaction,
  scope: Scope,
  filter: AuditFilter,
  max: number,
): Promise<number> => countUpTo(trx, filteredEntries(trx, scope, filter).select("id"), max);
