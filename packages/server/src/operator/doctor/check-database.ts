import { placeOf } from "../../compose/own-endpoints.ts";
import type { UsableSettings } from "../../config/config.ts";
import { explainDatabaseError } from "../../db/explain-database-error.ts";
import {
  type DatabaseFacts,
  type Inspected,
  openToInspect,
  readClockLead,
  readDatabaseFacts,
  readRoleFacts,
} from "../../db/inspect-database.ts";
import { refuseOldServer } from "../../db/refuse-old-server.ts";
import { refusePrivilegedRole } from "../../db/refuse-privileged-role.ts";
import {
  beginCheck,
  beginCheckWith,
  type Check,
  type Explain,
  failed,
  type Needed,
  ok,
  type Result,
  skipped,
  warning,
} from "./check.ts";
import { judgeExtensions, judgeMasterKey, judgeMigrations } from "./check-database-schema.ts";

type Connection = Inspected["db"];

const releaseOf = (found: number): string => `${Math.floor(found / 10_000)}.${found % 10_000}`;

function judgeServer(url: string, { version: found, name, isReplica }: DatabaseFacts): Result {
  refuseOldServer(found);
  const place = `PostgreSQL ${releaseOf(found)} at ${placeOf(url)}, database ${name}`;
  return isReplica
    ? failed(`${place}, is a replica and takes no writes. Point PERCH_DATABASE_URL at the primary.`)
    : ok(place);
}

const seconds = (value: number): string => `${Math.abs(value).toFixed(Math.abs(value) < 10 ? 2 : 0)} s`;

/** Times in records, signatures, tokens and limits come from both clocks. */
async function judgeClock(db: Connection, now: () => number): Promise<Result> {
  const lead = await readClockLead(db, now);
  const found = `this machine is ${seconds(lead)} ${lead > 0 ? "behind" : "ahead of"} the database`;
  if (Math.abs(lead) <= 5) return ok(found);
  const result = Math.abs(lead) <= 60 ? warning : failed;
  return result(`${found}. Let NTP set the clocks of both: tokens, signatures and limits depend on the time.`);
}

const prepare = "Let a superuser run what this prints: perch-server prepare-database";

async function judgeServerRole(db: Connection): Promise<Result> {
  await refusePrivilegedRole(db);
  const { name, mayServe } = await readRoleFacts(db);
  return mayServe
    ? ok(`${name}, which row-level security limits to one organisation at a time`)
    : failed(`The role ${name} is not a member of perch_app. ${prepare}`);
}

async function judgeOwner(db: Connection, server: Inspected | undefined): Promise<Result> {
  const [{ name, isSuperuser, mayMigrate }, facts] = await Promise.all([readRoleFacts(db), readDatabaseFacts(db)]);
  if (server && server.facts.identity !== facts.identity)
    return failed(
      "PERCH_MIGRATION_DATABASE_URL and PERCH_DATABASE_URL lead to different databases: `migrate` would change one that nobody serves. Correct one of them.",
    );
  if (isSuperuser)
    return warning(
      `The role ${name} is a superuser, and tables and functions would belong to it. Point PERCH_MIGRATION_DATABASE_URL at the role that \`perch-server prepare-database\` makes.`,
    );
  return mayMigrate ? ok(`${name}, which may migrate`) : failed(`The role ${name} may not migrate. ${prepare}`);
}

const explainAt =
  (url: string, source: string): Explain =>
  (error) =>
    explainDatabaseError(error, { url, source });

const unreadable = (variable: string): Result => skipped(`${variable} cannot be read: see settings`);

function checkOwner(settings: UsableSettings, server: Promise<Inspected | undefined>): [Check, Connection?] {
  const [name, variable] = ["owner role", "PERCH_MIGRATION_DATABASE_URL"];
  const { migrationDatabaseUrl: url } = settings;
  if (!("migrationDatabaseUrl" in settings)) return [beginCheck(name, async () => unreadable(variable))];
  if (url === undefined)
    return [beginCheck(name, async () => ok(`${variable} is not set: only commands such as \`migrate\` need it`))];
  const db = openToInspect(url);
  // After the server's own connection, whether that succeeds or not: both must lead to the same database.
  const after = { value: server.then((opened) => ({ opened })), otherwise: "" };
  return [beginCheckWith(name, after, ({ opened }) => judgeOwner(db, opened), explainAt(url, variable)), db];
}

export interface DatabaseChecks {
  readonly checks: readonly Check[];
  readonly close: () => Promise<unknown>;
}

export function checkDatabase(settings: UsableSettings, now: () => number): DatabaseChecks {
  const { databaseUrl: url } = settings;
  const db = url === undefined ? undefined : openToInspect(url);
  const { promise, resolve } = Promise.withResolvers<Inspected | undefined>();
  const explain = url === undefined ? undefined : explainAt(url, "PERCH_DATABASE_URL");
  const first = beginCheck(
    "database",
    async () => {
      if (db === undefined || url === undefined) return unreadable("PERCH_DATABASE_URL");
      const facts = await readDatabaseFacts(db);
      resolve({ db, facts });
      return judgeServer(url, facts);
    },
    explain,
  );
  // Without effect if it has been resolved before.
  void first.findings.then(() => resolve(undefined));
  const opened: Needed<Inspected> = { value: promise, otherwise: "the database was not reached" };
  const [owner, ownerDb] = checkOwner(settings, promise);
  return {
    checks: [
      first,
      beginCheckWith("clock", opened, (server) => judgeClock(server.db, now), explain),
      beginCheckWith("server role", opened, (server) => judgeServerRole(server.db), explain),
      owner,
      beginCheckWith("extensions", opened, (server) => judgeExtensions(server.db), explain),
      beginCheckWith("migrations", opened, (server) => judgeMigrations(server.db), explain),
      beginCheckWith("master key", opened, (server) => judgeMasterKey(server, settings), explain),
    ],
    close: () => Promise.all([db?.destroy(), ownerDb?.destroy()]),
  };
}
