import { generateKeyPairSync, randomBytes } from "node:crypto";
import { closeSync, existsSync, fchmodSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { identityKeyOf } from "../../engine/identity-key.ts";
import { OperatorError } from "../../platform/operator-error.ts";
import { commandTable } from "./command-table.ts";
import { UsageError } from "./usage.ts";

interface Hosts {
  readonly database: string;
  readonly valkey: string;
}

interface Secret {
  readonly file: string;
  readonly purpose: string;
  /** The file that it is made from. */
  readonly from?: string;
  readonly create: (source: string, hosts: Hosts) => string;
}

const randomPassword = (): string => randomBytes(24).toString("base64url");

const databaseUrl =
  (role: string) =>
  (password: string, { database }: Hosts): string =>
    `postgres://${role}:${encodeURIComponent(password)}@${database}/perch`;

/** In this order: a secret that is made from another file comes after it. */
const secrets: readonly Secret[] = [
  {
    file: "master-key",
    purpose: "encrypts what Perch stores; keep a copy away from the database",
    create: () => randomBytes(32).toString("base64"),
  },
  { file: "postgres-password", purpose: "password of PostgreSQL's superuser", create: randomPassword },
  { file: "owner-password", purpose: "password of the role that owns the tables", create: randomPassword },
  { file: "server-password", purpose: "password of the server's role", create: randomPassword },
  {
    file: "migration-database-url",
    purpose: "PERCH_MIGRATION_DATABASE_URL_FILE",
    from: "owner-password",
    create: databaseUrl("perch_owner"),
  },
  {
    file: "database-url",
    purpose: "PERCH_DATABASE_URL_FILE",
    from: "server-password",
    create: databaseUrl("perch_server"),
  },
  { file: "valkey-password", purpose: "password of Valkey", create: randomPassword },
  {
    file: "valkey.conf",
    purpose: "tells Valkey its password",
    from: "valkey-password",
    create: (password) => `requirepass ${password}`,
  },
  {
    file: "valkey-url",
    purpose: "PERCH_VALKEY_URL_FILE",
    from: "valkey-password",
    create: (password, { valkey }) => `redis://:${encodeURIComponent(password)}@${valkey}`,
  },
  {
    file: "engine-private-key.pem",
    purpose: "RESTATE_WORKER__INVOKER__REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE",
    create: () => generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString().trim(),
  },
  {
    file: "engine-public-key",
    purpose: "PERCH_RESTATE_IDENTITY_KEYS_FILE",
    from: "engine-private-key.pem",
    create: identityKeyOf,
  },
];

/** The folder keeps other users of the machine out; the files are readable, because containers read them as users of their own. */
const [folderMode, fileMode] = [0o700, 0o644];

function openFolder(dir: string): void {
  if (!existsSync(dir)) mkdirSync(dir, { mode: folderMode });
  const mode = statSync(dir).mode & 0o777;
  if ((mode & 0o077) !== 0)
    throw new OperatorError(
      `Other users of this machine can read ${dir} (mode ${mode.toString(8)}), and the secrets in it could be read by all of them. Run: chmod 700 ${dir}`,
    );
}

/** Fails if the file exists. The mode is set separately, because a process's umask may remove rights from new files. */
function writeNew(path: string, text: string): void {
  const file = openSync(path, "wx", fileMode);
  try {
    writeFileSync(file, `${text}\n`, { flush: true });
    fchmodSync(file, fileMode);
  } finally {
    closeSync(file);
  }
}

function readKept(path: string): string {
  const text = readFileSync(path, "utf8").trim();
  if (text !== "") return text;
  throw new OperatorError(`${path} is empty. Delete it, then repeat this command.`);
}

/** A new password beside the address with the old one would lock the server out. */
function refuseOrphan(dir: string, { file, from }: Secret): void {
  if (from === undefined || existsSync(join(dir, from)) || !existsSync(join(dir, file))) return;
  throw new OperatorError(
    `${join(dir, file)} was made from ${from}, which is gone. Put ${from} back. If nothing was started with these secrets yet, delete ${file} instead.`,
  );
}

function ensureSecret(dir: string, { file, from, create }: Secret, hosts: Hosts): "created" | "kept" {
  const path = join(dir, file);
  if (existsSync(path)) {
    readKept(path);
    return "kept";
  }
  writeNew(path, create(from === undefined ? "" : readKept(join(dir, from)), hosts));
  return "created";
}

function parseOptions(args: string[]) {
  const { values } = parseArgs({ args, options: commandTable["create-secrets"].options });
  const { dir, "database-host": database, "valkey-host": valkey } = values;
  if (!dir) throw new UsageError("--dir is missing: the folder for the secrets.");
  for (const [name, host] of Object.entries({ "database-host": database, "valkey-host": valkey }))
    if (!/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i.test(host))
      throw new UsageError(`--${name} is a host with or without a port, such as db.internal:5432.`);
  return { dir, hosts: { database, valkey } };
}

/** The system's message about the folder is all that an operator needs. */
function explain(error: unknown, dir: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined || error instanceof OperatorError) return error;
  return new OperatorError(
    `The secrets cannot be written to ${dir} (${message}). Choose a folder of your own, in a folder that exists.`,
    {
      cause: error,
    },
  );
}

/** Writes the secrets of an installation that are missing, a file each, and never changes one that is there. */
export async function runCreateSecrets(args: string[]): Promise<void> {
  const { dir, hosts } = parseOptions(args);
  const width = Math.max(...secrets.map(({ file }) => file.length));
  try {
    openFolder(dir);
    // The folder may be in a repository.
    if (!existsSync(join(dir, ".gitignore"))) writeNew(join(dir, ".gitignore"), "*");
    for (const secret of secrets) refuseOrphan(dir, secret);
    for (const secret of secrets) {
      const outcome = ensureSecret(dir, secret, hosts);
      console.log(`${outcome.padEnd(7)}  ${secret.file.padEnd(width)}  ${secret.purpose}`);
    }
  } catch (error) {
    throw explain(error, dir);
  }
}
