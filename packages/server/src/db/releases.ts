import { type Kysely, sql, type Transaction } from "kysely";
import { releaseFeatures } from "../platform/release-features.ts";
import type { DB } from "./generated-rows.ts";

/** A release that takes new runs since its turn began. */
export interface Turn {
  readonly turn: number;
  readonly release: string;
  readonly activatedAt: Date;
  /** What its workers understand of `releaseFeatures`, and of those of later releases. */
  readonly features: readonly string[];
}

const selectTurns = (db: Kysely<DB>) =>
  db
    .selectFrom("releases")
    .select(["turn", "release", "activated_at as activatedAt", "features"])
    .orderBy("turn", "desc");

/** The release that takes new runs. None before the first `migrate` of a release that knows of turns. */
export const findActiveTurn = (db: Kysely<DB>): Promise<Turn | undefined> =>
  selectTurns(db).limit(1).executeTakeFirst();

/** Newest first. */
export const listTurns = (db: Kysely<DB>): Promise<Turn[]> => selectTurns(db).execute();

/**
 * The features that every release understands which may get a new run now: the active one and, until one of its workers
 * has registered, those before it.
 */
export async function findUnderstoodFeatures(db: Kysely<DB>): Promise<readonly string[]> {
  const turns = await selectTurns(db)
    .where("turn", ">=", sql<number>`coalesce((select max(turn) from releases where registered_at is not null), 0)`)
    .execute();
  const [newest, ...earlier] = turns;
  return (newest?.features ?? []).filter((feature) => earlier.every(({ features }) => features.includes(feature)));
}

/** Stores that workers of this code take new runs in this turn. */
export async function markRegistered(db: Kysely<DB>, turn: number): Promise<void> {
  await sql`select mark_release_registered(${turn}, ${[...releaseFeatures]})`.execute(db);
}

/** Begins the release's turn, unless it has it. As the owner of the tables: the server's role only reads them. */
export async function activateRelease(
  trx: Transaction<DB>,
  release: string,
): Promise<{ readonly turn: number; readonly isNew: boolean }> {
  await sql`lock table releases in share row exclusive mode`.execute(trx);
  const active = await findActiveTurn(trx);
  if (active?.release === release) return { turn: active.turn, isNew: false };
  const turn = (active?.turn ?? 0) + 1;
  await trx
    .insertInto("releases")
    .values({ turn, release, features: [...releaseFeatures] })
    .execute();
  return { turn, isNew: true };
}
