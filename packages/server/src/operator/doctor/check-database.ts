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
import { healthChecks } from "../../platform/health-checks.ts";
import {
  beginCheck,
  beginCheckWith,
  type Check,
  type Explain,
  failed,
  type Needed,
  ok,
  type Result,
  unreadable,
  warning,
} from "./check.ts";
import { judgeActiveRelease, judgeExtensions, judgeMasterKey, judgeMigrations } from "./check-database-schema.ts";

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
  return result(`${found}. ${healthChecks.clock.advice}`);
}

async function judgeServerRole(db: Connection): Promise<Result> {
  await refusePrivilegedRole(db);
  const { name, mayServe } = await readRoleFacts(db);
  return mayServe
    ? ok(`${name}, which row-level security limits to one organisation at a time`)
    : failed(`The role ${name} is not a member of perch_app. ${healthChecks.serverRole.advice}`);
}

async function judgeOwner(db: Connection, server: Inspected | undefined): Promise<Result> {
  const [{ name, isSuperuser, mayMigrate }, facts] = await Promise.all([readRoleFacts(db), readDatabaseFacts(db)]);
  if (server && server.facts.identity !== facts.identity)
    return failed(
      "PERCH_MIGRATION_DATABASE_URL and PERCH_DATABASE_URL lead to different databases: `migrate` would change one that no server uses. Correct one of them.",
    );
  if (isSuperuser)
    return warning(
      `The role ${name} is a superuser, and tables and functions would belong to it. Point PERCH_MIGRATION_DATABASE_URL at the role that \`perch-server prepare-database\` makes.`,
    );
  return mayMigrate
    ? ok(`${name}, which may migrate`)
    : failed(`The role ${name} may not migrate. ${healthChecks.ownerRole.advice}`);
}

const explainAt =
  (url: string, source: string): Explain =>
  (error) =>
    explainDatabaseError(error, { url, source });

function checkOwner(settings: UsableSettings, server: Promise<Inspected | undefined>): [Check, Connection?] {
  const { setting } = healthChecks.ownerRole;
  const { migrationDatabaseUrl: url } = settings;
  if (!("migrationDatabaseUrl" in settings)) return [beginCheck("ownerRole", async () => unreadable("ownerRole"))];
  if (url === undefined)
    return [
      beginCheck("ownerRole", async () => ok(`${setting} is not set: only commands such as \`migrate\` need it`)),
    ];
  const db = openToInspect(url);
  // After the server's own connection, whether that succeeds or not: both must lead to the same database.
  const after = { value: server.then((opened) => ({ opened })), otherwise: "" };
  return [beginCheckWith("ownerRole", after, ({ opened }) => judgeOwner(db, opened), explainAt(url, setting)), db];
}

export function checkDatabase(settings: UsableSettings, now: () => number) {
  const { databaseUrl: url } = settings;
  const db = url === undefined ? undefined : openToInspect(url);
  const { promise, resolve } = Promise.withResolvers<Inspected | undefined>();
  const explain = url === undefined ? undefined : explainAt(url, healthChecks.database.setting);
  const database = beginCheck(
    "database",
    async () => {
      if (db === undefined || url === undefined) return unreadable("database");
      const facts = await readDatabaseFacts(db);
      resolve({ db, facts });
      return judgeServer(url, facts);
    },
    explain,
  );
  // Without effect if it has been resolved before.
  void database.findings.then(() => resolve(undefined));
  const opened: Needed<Inspected> = { value: promise, otherwise: "the database was not reached" };
  const [ownerRole, ownerDb] = checkOwner(settings, promise);
  return {
    checks: {
      database,
      clock: beginCheckWith("clock", opened, (server) => judgeClock(server.db, now), explain),
      serverRole: beginCheckWith("serverRole", opened, (server) => judgeServerRole(server.db), explain),
      ownerRole,
      extensions: beginCheckWith("extensions", opened, (server) => judgeExtensions(server.db), explain),
      migrations: beginCheckWith("migrations", opened, (server) => judgeMigrations(server.db), explain),
      activeRelease: beginCheckWith("activeRelease", opened, (server) => judgeActiveRelease(server), explain),
      masterKey: beginCheckWith("masterKey", opened, (server) => judgeMasterKey(server, settings), explain),
    },
    close: () => Promise.all([db?.destroy(), ownerDb?.destroy()]),
  };
}
