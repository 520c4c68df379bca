import { setTimeout as sleep } from "node:timers/promises";
import { type Kysely, sql } from "kysely";
import type { DB } from "../../db/generated-rows.ts";
import type { EngineRuns } from "../../engine/engine-runs.ts";
import type { RunSlots } from "../../limits/run-slots.ts";
import { uuidTime } from "../../platform/ids.ts";
import { OperatorError } from "../../platform/operator-error.ts";
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
  /** How long runs have to end. */
  readonly maxWaitMs: number;
}

export interface OrganisationReceipt {
  readonly rows: Readonly<Record<string, number>>;
  readonly engine: number;
  readonly valkey: number;
}

/** Undefined if the organisation does not exist. */
export const findOrganisationName = (owner: Kysely<DB>, organisationId: string): Promise<string | undefined> =>
  asOrganisation(owner, organisationId, async (trx) => {
    const row = await trx
      .selectFrom("organisations")
      .select("name")
      .where("id", "=", organisationId)
      .executeTakeFirst();
    return row?.name;
  });

/** Rows of each table that has some. */
export async function countOrganisation(owner: Kysely<DB>, organisationId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of await listTenantTables(owner)) {
    const count = await countRows(owner, organisationId, table);
    if (count > 0) counts[table.name] = count;
  }
  return counts;
}

/**
 * Requests cancellation, so that a running run ends at its next step. A run that waits for a person has no next step,
 * and cannot continue once its row is deleted. Returns the number of deleted rows.
 */
const cancelRuns = (owner: Kysely<DB>, organisationId: string): Promise<number> =>
  asOrganisation(owner, organisationId, async (trx) => {
    await sql`
      update invocations set cancel_requested_at = coalesce(cancel_requested_at, now())
        where organisation_id = ${organisationId} and status = 'running'`.execute(trx);
    const { numAffectedRows } = await sql`
      delete from waiting_runs where organisation_id = ${organisationId}`.execute(trx);
    return Number(numAffectedRows ?? 0n);
  });

const pauseMs = 1000;
const reportEveryMs = 10_000;

/** Calls `report` at once, and then no more often than the interval. */
function createPacedReport(report: (text: string) => void): (text: string) => void {
  let nextAt = 0;
  return (text) => {
    if (Date.now() < nextAt) return;
    nextAt = Date.now() + reportEveryMs;
    report(text);
  };
}

/** Runs that may be the organisation's and have not ended: their records must not go before that. */
interface OpenRuns {
  readonly inEngine: number;
  /** They hold a slot, and have not reached the engine, or never will. */
  readonly onlyHeld: number;
}

async function countOpen(
  { owner, engineRuns, slots }: EraseOrganisationDeps,
  organisationId: string,
  since: Date,
): Promise<OpenRuns> {
  const open = (await engineRuns.listOpen(since)).filter(
    ({ sessionKey }) => sessionKey === null || sessionKey.includes(organisationId),
  );
  const inEngine = new Set(open.map(({ id }) => id));
  const onlyHeld = (await slots.listHeld(organisationId)).filter((id) => !inEngine.has(id));
  // The engine does not report the organisation of a run without a session.
  const unnamed = open.filter(({ sessionKey }) => sessionKey === null).map(({ id }) => id);
  const times = unnamed.map((id) => uuidTime(id));
  const [others, ended] = await asOrganisation(owner, organisationId, async (trx) => [
    await sql<{ id: string }>`
      select o.id from list_runs_of_others(${organisationId}, ${unnamed}::uuid[], ${times}::timestamptz[]) as o (id)`.execute(
      trx,
    ),
    await sql<{ id: string }>`
      select id from invocations
        where organisation_id = ${organisationId} and id = any (${onlyHeld}::uuid[]) and status <> 'running'`.execute(
      trx,
    ),
  ]);
  return { inEngine: inEngine.size - others.rows.length, onlyHeld: onlyHeld.length - ended.rows.length };
}

const runsInWords = (count: number) => (count === 1 ? "1 run" : `${count} runs`);

/** Returns how many rows of runs that waited were deleted. */
async function endRuns(deps: EraseOrganisationDeps, organisationId: string, since: Date): Promise<number> {
  const until = Date.now() + deps.maxWaitMs;
  const report = createPacedReport(deps.report);
  let waited = 0;
  for (;;) {
    waited += await cancelRuns(deps.owner, organisationId);
    const { inEngine, onlyHeld } = await countOpen(deps, organisationId, since);
    if (inEngine + onlyHeld === 0) return waited;
    if (Date.now() >= until) {
      // One that holds a slot for so long is unknown to the engine: nothing would end it, and nothing will write its record.
      if (inEngine === 0) return waited;
      const have = inEngine === 1 ? "has" : "have";
      throw new OperatorError(`${runsInWords(inEngine)} ${have} not ended. Start workers and run this again.`);
    }
    report(`Waiting for ${runsInWords(inEngine + onlyHeld)} under way to end.`);
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

async function deleteAllRows(
  { owner, report }: EraseOrganisationDeps,
  organisationId: string,
): Promise<Record<string, number>> {
  const rows: Record<string, number> = {};
  const paced = createPacedReport(report);
  for (const table of await listTenantTables(owner)) {
    const onBatch = (deleted: number) => paced(`${table.name}: ${deleted} rows deleted so far.`);
    const deleted = await deleteRows(owner, organisationId, table, onBatch);
    if (deleted > 0) report(`${table.name}: ${deleted} rows deleted.`);
    if (deleted > 0) rows[table.name] = deleted;
  }
  return rows;
}

/**
 * Deletes all that an organisation has. Every part may be repeated, so a command that was killed is run again. The row of the
 * organisation goes last: as long as it is there, there may be something left.
 */
export async function eraseOrganisation(
  deps: EraseOrganisationDeps,
  organisationId: string,
): Promise<OrganisationReceipt> {
  const { owner, engineRuns, streams } = deps;
  const waited = await endRuns(deps, organisationId, new Date());
  const recent = await listRecentRuns(owner, organisationId);
  deps.report(`Deleting what the engine and the streams keep of ${runsInWords(recent.length)}.`);
  const engine = (await engineRuns.purge(recent)) + (await engineRuns.purgeNaming(organisationId));
  const streamed = await streams.delete(recent);
  await endDeployments(owner, organisationId);
  const rows = await deleteAllRows(deps, organisationId);
  if (waited > 0) rows.waiting_runs = waited + (rows.waiting_runs ?? 0);
  const valkey = streamed + (await deps.deleteSharedKeys(organisationId));
  await asOrganisation(owner, organisationId, (trx) =>
    sql`delete from organisations where id = ${organisationId}`.execute(trx),
  );
  return { rows: { ...rows, organisations: 1 }, engine, valkey };
}
