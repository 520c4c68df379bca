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

/** Changes whose epoch was not replaced in time: their process died, or could not reach Valkey. */
export async function listLostEpochChanges(db: Kysely<DB>): Promise<EpochChange[]> {
  const { rows } = await sql<EpochChange>`select * from lost_epoch_changes()`.execute(db);
  return rows;
}

export async function deleteEpochChanges(db: Kysely<DB>, ids: readonly string[]): Promise<void> {
  await sql`select settle_epoch_changes(${[...ids]}::bigint[])`.execute(db);
}
