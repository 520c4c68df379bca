import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { isConnectionFailure } from "../../db/connection-failure.ts";
import { isName, type Login, type Preparation, preparationScript } from "../../db/preparation-sql.ts";
import { prepareDatabase } from "../../db/prepare-database.ts";
import { retryUntilReady } from "../../db/retry-until-ready.ts";
import { isPassword, scramVerifier } from "../../db/scram-verifier.ts";
import { OperatorError } from "../../platform/operator-error.ts";
import { commandTable } from "./command-table.ts";
import { UsageError } from "./usage.ts";

const defaults = { database: "perch", owner: "perch_owner" };

/** A password that was given is never printed; one that is made here is printed once. */
interface Password {
  readonly text: string;
  readonly isOurs: boolean;
}

function readPassword(option: string, file: string): string {
  let text: string;
  try {
    text = readFileSync(file, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    throw new UsageError(`--${option}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  if (isPassword(text)) return text;
  throw new UsageError(`--${option}: a password has 8 to 200 printable ASCII characters and no spaces.`);
}

const maxWaitSeconds = 3600;

function readSeconds(text: string): number {
  if (/^\d{1,4}$/.test(text) && Number(text) <= maxWaitSeconds) return Number(text);
  throw new UsageError(`--wait-seconds is a whole number from 0 to ${maxWaitSeconds}.`);
}

/** The address with the password from a file, which is then in no list of processes. */
function withPassword(url: string, file: string): string {
  const address = new URL(url);
  if (address.password !== "") throw new UsageError("--url has a password already: leave --password-file out.");
  address.password = encodeURIComponent(readPassword("password-file", file));
  return address.href;
}

const passwordFrom = (option: string, file: string | undefined): Password =>
  file === undefined
    ? { text: randomBytes(24).toString("base64url"), isOurs: true }
    : { text: readPassword(option, file), isOurs: false };

const toLogin = (name: string, { text, isOurs }: Password): Login => ({
  name,
  verifier: scramVerifier(text),
  replacesPassword: !isOurs,
});

interface Passwords {
  readonly owner: Password;
  readonly server: Password;
}

/** Other parameters of the query may contain the user and password of the operator who runs this. */
const keptParameters = ["host", "port", "sslmode", "sslrootcert"];

/** The two settings. A password that is not ours to print is the word PASSWORD. */
function settingLines(base: string, { database, owner, server }: Preparation, shown: Partial<Passwords>): string {
  const address = (role: string, password: Password | undefined): string => {
    const url = new URL(base);
    url.username = encodeURIComponent(role);
    url.password = password?.isOurs ? password.text : "PASSWORD";
    // As the PostgreSQL client reads it: it decodes no more than this encodes.
    url.pathname = `/${encodeURI(database)}`;
    const kept = [...url.searchParams].filter(([name]) => keptParameters.includes(name));
    url.search = new URLSearchParams(kept).toString();
    url.hash = "";
    return url.href;
  };
  return [
    `PERCH_MIGRATION_DATABASE_URL=${address(owner.name, shown.owner)}`,
    `PERCH_DATABASE_URL=${address(server.name, shown.server)}`,
  ].join("\n");
}

/** As the PostgreSQL client reads it, which decodes each part. The address is not shown, because it may contain a password. */
function isReadableUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password, pathname } = new URL(text);
  try {
    for (const part of [username, password, pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

/** PostgreSQL copies template1 into every new database, and template0 cannot be changed. */
function refuseTemplate(database: string | undefined): void {
  if (database === "template0" || database === "template1")
    throw new UsageError(`${database} is a template of PostgreSQL: choose another database with --database.`);
}

function parseOptions(args: string[]) {
  const { values } = parseArgs({ args, options: commandTable["prepare-database"].options });
  const { run, url, database, owner, server } = values;
  if (run !== (url !== undefined)) throw new UsageError("--run and --url belong together.");
  if (url !== undefined && !/^postgres(ql)?:\/\/./.test(url))
    throw new UsageError("--url is an address such as postgres://postgres@db.example:5432/postgres.");
  if (url !== undefined && !isReadableUrl(url))
    throw new UsageError(
      "--url cannot be read: percent-encode its user and password, such as %2F for / and %25 for %.",
    );
  for (const [name, value] of Object.entries({ database, owner, server }))
    if (value !== undefined && !isName(value)) throw new UsageError(`--${name} is a name of up to 63 bytes.`);
  if (/[?#]/.test(database ?? "")) throw new UsageError("--database is a name without ? and #.");
  refuseTemplate(database);
  if (server === (owner ?? defaults.owner)) throw new UsageError("--owner and --server are two different roles.");
  const passwordFile = values["password-file"];
  if (url === undefined && passwordFile !== undefined) throw new UsageError("--password-file belongs to --url.");
  return {
    ...values,
    url: url !== undefined && passwordFile !== undefined ? withPassword(url, passwordFile) : url,
    waitSeconds: readSeconds(values["wait-seconds"]),
    passwords: {
      owner: passwordFrom("owner-password-file", values["owner-password-file"]),
      server: passwordFrom("server-password-file", values["server-password-file"]),
    },
  };
}

type Options = ReturnType<typeof parseOptions>;

function printScript({ database = defaults.database, owner = defaults.owner, server, passwords }: Options): void {
  const preparation = {
    database,
    owner: toLogin(owner, passwords.owner),
    server: toLogin(server, passwords.server),
  };
  const settings = settingLines("postgres://HOST:5432", preparation, passwords);
  console.log(`-- Prepares PostgreSQL 17 for Perch. Run it with psql, as a superuser:
--   psql -X -v ON_ERROR_STOP=1 -f THIS-FILE postgres://postgres@HOST:5432/postgres
-- It may run again at any time. A role that exists already keeps its password,
-- unless you gave one.
${preparationScript(preparation)}`);
  // Not in the script, which is stored in a file: it contains only PostgreSQL's stored form of a password.
  console.error(
    `Settings for perch-server afterwards. A role that exists already keeps its own password.\n${settings}`,
  );
}

async function prepareAt(url: string, { owner, server, passwords, ...given }: Options): Promise<void> {
  const named = decodeURI(new URL(url).pathname.slice(1));
  const database = given.database ?? (["", "postgres"].includes(named) ? defaults.database : named);
  refuseTemplate(database);
  const leftToSuperuser = await prepareDatabase(url, {
    database,
    isChosen: given.database !== undefined,
    owner,
    defaultOwner: defaults.owner,
    ownerLogin: (name) => toLogin(name, passwords.owner),
    server: toLogin(server, passwords.server),
    onRoles: (preparation, created) => {
      const isNew = ({ name }: Login) => created.includes(name);
      const shown = {
        ...(isNew(preparation.owner) ? { owner: passwords.owner } : {}),
        ...(isNew(preparation.server) ? { server: passwords.server } : {}),
      };
      console.log(settingLines(url, preparation, shown));
    },
  });
  if (leftToSuperuser)
    throw new OperatorError(
      `${leftToSuperuser.reason} A superuser has to run this once in the database ${database}:\n${leftToSuperuser.statement}`,
    );
  console.error(`The database ${database} is ready. Set the addresses above, then run: perch-server migrate`);
}

/** Roles and databases may be missing for good; a server that does not answer is perhaps being started. */
const whyNoConnection = (error: unknown): string | undefined =>
  error instanceof OperatorError && isConnectionFailure(error.cause) ? error.message : undefined;

const runOn = (url: string, options: Options): Promise<void> =>
  retryUntilReady({
    seconds: options.waitSeconds,
    attempt: () => prepareAt(url, options),
    explain: whyNoConnection,
    onWaiting: (reason, waited) => console.error(`Waiting (${waited} s of ${options.waitSeconds} s): ${reason}`),
  });

/** Only the SQL or the settings go to standard output. */
export async function runPrepareDatabase(args: string[]): Promise<void> {
  const options = parseOptions(args);
  if (options.url === undefined) printScript(options);
  else await runOn(options.url, options);
}
