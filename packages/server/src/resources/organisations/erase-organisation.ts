import { setTimeout as sleep } from "node:timers/promises";
import { type Kysely, sql } from "kysely";
import type { DB } from "../../db/generated-rows.ts";
import type { EngineRuns } from "../../engine/engine-runs.ts";
import type { RunSlots } from "../../limits/run-slots.ts";
import { uuidTime } from "../../platform/ids.ts";
import type { RunStreams } from "../../streams/run-streams.ts";
import { asOrganisation, countRows, deleteRows, listTenantTables } from "./erase-rows.ts";

export interface EraseOrganisationDeps {
  /** As the owner of the tables. */
  readonly owner: Kysely<DB>;
  readonly engineRuns: EngineRuns;
  readonly slots: Pick<RunSlots, "listHeld">;
  readonly streams: Pick<RunStreams, "delete">;
  /** Deletes the keys in Valkey that name the organisation; how many. */
  readonly deleteSharedKeys: (organisationId: string) => Promise<number>;
  readonly report: (text: string) => void;
}

export interface OrganisationReceipt {
  readonly rows: Readonly<Record<string, number>>;
  readonly engine: number;
  readonly valkey: number;
}

/** Rows of each table that has some. */
export async function countOrganisation(owner: Kysely<DB>, organisationId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of await listTenantTables(owner)) {
    const count = await countRows(owner, organisationId, table);
    if (count > 0) counts[table.name] = count;
  }
  return counts;
}

/** As a request to cancel does it: a run ends at its next step. */
const cancelRuns = (owner: Kysely<DB>, organisationId: string): Promise<number> =>
  asOrganisation(owner, organisationId, async (trx) => {
    const { numAffectedRows } = await sql`
      update invocations set cancel_requested_at = coalesce(cancel_requested_at, now())
        where organisation_id = ${organisationId} and status = 'running'`.execute(trx);
    return Number(numAffectedRows ?? 0n);
  });

/** The longest run takes 15 minutes. One that is `running` for longer is unknown to the engine: nothing would end it. */
const maxWaitMs = 20 * 60_000;
const pauseMs = 1000;
const reportEvery = 2;

/** How many runs the engine still has that may be the organisation's: their records must not go before they end. */
async function countOpen(
  { owner, engineRuns, slots }: EraseOrganisationDeps,
  organisationId: string,
  since: Date,
): Promise<number> {
  const open = await engineRuns.listOpen(since);
  const isOwn = (key: string) => key.includes(organisationId);
  const sessions = open.filter(({ sessionKey }) => sessionKey !== null && isOwn(sessionKey));
  const others = open.filter(({ sessionKey }) => sessionKey === null).map(({ id }) => id);
  const held = await slots.listHeld(organisationId);
  const candidates = [...new Set([...others, ...held])];
  if (candidates.length === 0) return sessions.length;
  const times = candidates.map((id) => uuidTime(id));
  const { rows } = await asOrganisation(owner, organisationId, (trx) =>
    sql<{ id: string }>`
      select o.id from list_runs_of_others(${organisationId}, ${candidates}::uuid[], ${times}::timestamptz[]) as o (id)
      union select i.id from unnest(${held}::uuid[]) h (id) join invocations i on i.organisation_id = ${organisationId} and i.id = h.id
        where i.status <> 'running'`.execute(trx),
  );
  const settled = new Set(rows.map(({ id }) => id));
  return sessions.length + candidates.filter((id) => !settled.has(id)).length;
}

async function endRuns(deps: EraseOrganisationDeps, organisationId: string, since: Date): Promise<void> {
  const until = Date.now() + maxWaitMs;
  for (let n = 0; ; n++) {
    await cancelRuns(deps.owner, organisationId);
    const open = await countOpen(deps, organisationId, since);
    if (open === 0 || Date.now() > until) return;
    if (n % reportEvery === 0) deps.report(`Waiting for ${open} runs under way to end.`);
    await sleep(pauseMs);
  }
}

/** The engine keeps results for an hour, and streams live for less. */
const listRecentRuns = (owner: Kysely<DB>, organisationId: string): Promise<string[]> =>
  asOrganisation(owner, organisationId, async (trx) => {
    const { rows } = await sql<{ id: string }>`
      select id from invocations where organisation_id = ${organisationId}
        and (finished_at is null or finished_at > now() - interval '2 hours')`.execute(trx);
    return rows.map(({ id }) => id);
  });

/** A deployment that is open may not be deleted, so it ends first. */
const endDeployments = (owner: Kysely<DB>, organisationId: string): Promise<unknown> =>
  asOrganisation(owner, organisationId, (trx) =>
    sql`update deployments set status = case status when 'pending' then 'failed' else 'superseded' end, ended_at = now()
          where organisation_id = ${organisationId} and status in ('pending', 'active')`.execute(trx),
  );

/**
 * Deletes all that an organisation has. Every part may be repeated, so a command that was killed is run again. The row of the
 * organisation goes last: as long as it is there, there may be something left.
 */
export async function eraseOrganisation(
  deps: EraseOrganisationDeps,
  organisationId: string,
): Promise<OrganisationReceipt> {
  const { owner, engineRuns, streams, report } = deps;
  await endRuns(deps, organisationId, new Date());
  const recent = await listRecentRuns(owner, organisationId);
  const engine = (await engineRuns.purge(recent)) + (await engineRuns.purgeNaming(organisationId));
  const streamed = await streams.delete(recent);
  await endDeployments(owner, organisationId);
  const rows: Record<string, number> = {};
  for (const table of await listTenantTables(owner)) {
    const deleted = await deleteRows(owner, organisationId, table);
    if (deleted > 0) report(`${table.name}: ${deleted} rows deleted.`);
    if (deleted > 0) rows[table.name] = deleted;
  }
  const valkey = streamed + (await deps.deleteSharedKeys(organisationId));
  await asOrganisation(owner, organisationId, (trx) =>
    sql`delete from organisations where id = ${organisationId}`.execute(trx),
  );
  return { rows: { ...rows, organisations: 1 }, engine, valkey };
}
