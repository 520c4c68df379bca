import { type Kysely, sql } from "kysely";
import type { OrganisationTransaction } from "../db/database.ts";
import type { DB } from "../db/generated-rows.ts";

/** In the change's own transaction, so that the epoch is replaced even if this process dies after the commit. */
export async function insertEpochChange(trx: OrganisationTransaction, organisationId: string): Promise<string> {
  const row = await trx
    .insertInto("epoch_changes")
    .values({ organisation_id: organisationId })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

export interface EpochChange {
  readonly id: string;
  readonly organisation_id: string;
}

/** A process replaces the epoch right after its commit: a change older than this has lost its process. */
const lostAfterSeconds = 1;
const maxRepaired = 500;

/** Changes whose epoch was not replaced in time: their process died, or could not reach Valkey. */
export async function listLostEpochChanges(db: Kysely<DB>): Promise<EpochChange[]> {
  const { rows } = await sql<EpochChange>`
    select * from list_lost_epoch_changes(make_interval(secs => ${lostAfterSeconds}), ${maxRepaired})`.execute(db);
  return rows;
}

export async function deleteEpochChanges(db: Kysely<DB>, ids: readonly string[]): Promise<void> {
  await sql`select delete_epoch_changes(${[...ids]}::bigint[])`.execute(db);
}
