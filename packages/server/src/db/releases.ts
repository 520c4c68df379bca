import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "./generated-rows.ts";

/** A release that takes new runs since its turn began. */
export interface Turn {
  readonly turn: number;
  readonly release: string;
  readonly activatedAt: Date;
}

const selectTurns = (db: Kysely<DB>) =>
  db.selectFrom("releases").select(["turn", "release", "activated_at as activatedAt"]).orderBy("turn", "desc");

/** The release that takes new runs. None before the first `migrate` of a release that knows of turns. */
export const findActiveTurn = (db: Kysely<DB>): Promise<Turn | undefined> =>
  selectTurns(db).limit(1).executeTakeFirst();

/** Newest first. */
export const listTurns = (db: Kysely<DB>): Promise<Turn[]> => selectTurns(db).execute();

/** Begins the release's turn, unless it has it. As the owner of the tables: the server's role only reads them. */
export async function activateRelease(
  trx: Transaction<DB>,
  release: string,
): Promise<{ readonly turn: number; readonly isNew: boolean }> {
  await sql`lock table releases in share row exclusive mode`.execute(trx);
  const active = await findActiveTurn(trx);
  if (active?.release === release) return { turn: active.turn, isNew: false };
  const turn = (active?.turn ?? 0) + 1;
  await trx.insertInto("releases").values({ turn, release }).execute();
  return { turn, isNew: true };
}
