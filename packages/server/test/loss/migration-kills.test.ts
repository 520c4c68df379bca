import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  createScratchDatabase,
  type ScratchDatabase,
  withClient,
} from "@perch/testkit/installation/scratch-database.ts";
import { sql } from "kysely";
import { Migrator } from "kysely/migration";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { currentSchema, readMigrations, type Schema } from "../../src/db/migrate.ts";
import { openAsOwner } from "../../src/db/open-as-owner.ts";
import { maintainPartitions } from "../../src/db/partitions.ts";
import { type Case, describeKill, type Migrated, migrateUndisturbed } from "../support/killed-migration.ts";

/** `all` kills at every boundary, which takes minutes. */
const isFull = process.env.TEST_MIGRATION_KILLS === "all";
/** Without it, one in so many of the boundaries outside the newest migration. */
const step = 50;
/** Jobs mostly wait for PostgreSQL and for Node to start. */
const concurrency = 3;

interface Start {
  readonly database: ScratchDatabase;
  readonly undisturbed: Migrated;
}

let schema: Schema;
let empty: Start;
let previous: Start;
const databases: ScratchDatabase[] = [];

async function createDatabase(): Promise<ScratchDatabase> {
  const database = await createScratchDatabase();
  databases.push(database);
  return database;
}

/** A job that runs over midnight (UTC) makes the partitions of another day than the one it is compared with. */
async function waitPastMidnight(): Promise<void> {
  const dayMs = 86_400_000;
  const leftMs = dayMs - (Date.now() % dayMs);
  if (leftMs < 60_000 && !isFull) await sleep(leftMs + 1000);
}

const goneFunction = { name: "gone", text: "create function gone() returns int language sql as 'select 1'" };

/** Applies the functions of this release that the tables of another one allow, and one that is gone since. The others are new. */
const applyUsableFunctions = (ownerUrl: string): Promise<number> =>
  withClient(ownerUrl, async (client) => {
    let usable = 0;
    await client.query("begin; grant create on schema public to perch_platform, perch_recorder");
    for (const { name, text } of [...schema.functions, goneFunction]) {
      await client.query("savepoint before_function");
      const isUsable = await client.query(text).then(
        () => true,
        () => false,
      );
      if (!isUsable) {
        await client.query("rollback to before_function");
        continue;
      }
      usable += 1;
      // The first one had another text.
      const checksum = createHash("sha256")
        .update(usable === 1 ? "an earlier text" : text)
        .digest("hex");
      await client.query("insert into schema_functions (name, checksum) values ($1, $2)", [name, checksum]);
    }
    await client.query("revoke create on schema public from perch_platform, perch_recorder");
    await client.query("insert into schema_release (release) values ('0.0.1')");
    await client.query("commit");
    return usable;
  });

/** A database of the release before: without the newest two migrations, one function changed since, and one gone since. */
async function createPreviousDatabase(): Promise<ScratchDatabase> {
  const database = await createDatabase();
  const db = openAsOwner(database.ownerUrl);
  try {
    const getMigrations = () => readMigrations(schema.migrations.slice(0, -2));
    const { error } = await new Migrator({ db, provider: { getMigrations } }).migrateToLatest();
    if (error) throw error;
    await sql`grant select on kysely_migration to perch_app`.execute(db);
    expect(await applyUsableFunctions(database.ownerUrl)).toBeGreaterThan(10);
    await maintainPartitions(db);
  } finally {
    await db.destroy();
  }
  return database;
}

const start = async (database: ScratchDatabase): Promise<Start> => ({
  database,
  undisturbed: await migrateUndisturbed(database),
});

beforeAll(async () => {
  await waitPastMidnight();
  schema = await currentSchema();
  [empty, previous] = await Promise.all([createDatabase().then(start), createPreviousDatabase().then(start)]);
});
afterAll(() => Promise.all(databases.map((database) => database.drop())));

const sides = ["before", "after"] as const;

const casesOf = (queries: readonly number[], second: Case["second"]): Case[] =>
  queries.flatMap((query) => sides.map((side) => ({ query, side, second })));

/** From the newest migration's own text to the commit. */
async function newestMigration({ queries }: Migrated): Promise<number[]> {
  const file = join(import.meta.dirname, "../../migrations", `${schema.migrations.at(-1)}.sql`);
  const first = queries.indexOf(await readFile(file, "utf8"));
  const last = queries.indexOf("commit", first);
  expect(first, "the newest migration is sent as one query").toBeGreaterThan(0);
  expect(last, "a commit follows").toBeGreaterThan(first);
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

async function describeKills({ database, undisturbed }: Start, cases: readonly Case[]): Promise<string[]> {
  const wrong: string[] = [];
  const remaining = cases.values();
  const startedAt = performance.now();
  let done = 0;
  const killInTurn = async () => {
    for (const each of remaining) {
      wrong.push(...(await describeKill(database, undisturbed, each)));
      done += 1;
      if (isFull && done % 20 === 0)
        console.log(`${done} of ${cases.length} kills in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, killInTurn));
  expect(done).toBe(cases.length);
  return wrong;
}

const every = ({ undisturbed }: Start): number[] => [...undisturbed.queries.keys()];
const someOf = (start: Start): number[] => (isFull ? every(start) : every(start).filter((query) => query % step === 3));
const limitMs = isFull ? 3_600_000 : 90_000;

describe("`migrate` that is killed (SIGKILL) and started again ends with the schema of one that was not interrupted", () => {
  test(
    "from an empty database",
    async () => {
      const cases = casesOf(someOf(empty), "afterwards");
      expect(cases.length).toBeGreaterThan(5);
      expect(await describeKills(empty, cases)).toEqual([]);
    },
    limitMs,
  );

  test(
    "from the database of the release before, at every boundary of the newest migration",
    async () => {
      const newest = await newestMigration(previous.undisturbed);
      const cases = casesOf(isFull ? every(previous) : newest, "afterwards");
      expect(await describeKills(previous, cases)).toEqual([]);
    },
    limitMs,
  );
});

describe("of two `migrate` that run at once, one is killed and the other ends with that schema", () => {
  test(
    "from an empty database",
    async () => {
      const cases = isFull ? casesOf(every(empty), "beside") : casesOf([someOf(empty)[1] ?? 0], "beside");
      expect(await describeKills(empty, cases)).toEqual([]);
    },
    limitMs,
  );

  test(
    "from the database of the release before",
    async () => {
      const newest = await newestMigration(previous.undisturbed);
      const cases = casesOf(isFull ? every(previous) : newest.slice(0, 1), "beside");
      expect(await describeKills(previous, cases)).toEqual([]);
    },
    limitMs,
  );
});
