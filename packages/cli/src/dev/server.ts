import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { promisify } from "node:util";
import { perchCommand } from "../perch-command.ts";
import { Problem } from "../problem.ts";
import { type Child, startChild, untilHealthy } from "./child.ts";
import type { DevDatabase } from "./database.ts";
import type { DevFolder, DevState } from "./state.ts";

export interface ServerPackage {
  readonly main: string;
  readonly release: string;
  /** A checksum of its migrations and database functions. */
  readonly schema: string;
}

function schemaChecksum(folder: string): string {
  const checksum = createHash("sha256");
  for (const part of ["migrations", "sql"])
    for (const name of readdirSync(join(folder, part)).sort())
      checksum.update(name).update(readFileSync(join(folder, part, name)));
  return checksum.digest("hex");
}

/** The server beside us in node_modules: built when installed, source in a checkout. */
export function findServer(): ServerPackage {
  const file = createRequire(import.meta.url).resolve("@perch/server/package.json");
  const manifest = JSON.parse(readFileSync(file, "utf8")) as { version: string; bin: Record<string, string> };
  const folder = dirname(file);
  return {
    main: join(folder, manifest.bin["perch-server"] ?? ""),
    release: manifest.version,
    schema: schemaChecksum(folder),
  };
}

/**
 * The settings of the shell that perch dev passes on: those that a developer may want to change, and that cannot lead
 * elsewhere. All others are dropped, because the shell may also have settings of another server, which would reach its
 * database, its engine or its Valkey, and because the server refuses to start with variables of other programs, such as
 * PERCH_AGENT.
 */
const passedOn = new Set([
  "PERCH_CORS_ORIGINS",
  "PERCH_DEFAULT_LOGS",
  "PERCH_LOCAL_EMBEDDER_DIR",
  "PERCH_LOG_LEVEL",
  "PERCH_MODEL_IDLE_TIMEOUT_SECONDS",
  "PERCH_MODEL_PRICES",
  "PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES",
  "PERCH_PROVIDERS",
  "PERCH_PUBLIC_URL",
]);

/**
 * Every version has this release name here, so that runs under way continue after an upgrade, because there is no
 * second server on which they could end.
 */
export const devRelease = "dev";

const inherited = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("PERCH_") || passedOn.has(name)));

/**
 * No website reaches this server under a name of its own. If PERCH_PUBLIC_URL is set, the user has a tunnel of that
 * name.
 */
const allowedHosts = (publicUrl: string | undefined): string =>
  [
    "127.0.0.1",
    "localhost",
    "[::1]",
    ...(publicUrl && URL.canParse(publicUrl) ? [new URL(publicUrl).hostname] : []),
  ].join(",");

/** The differences from production are here and in docs/decisions/0031-perch-dev.md. */
export function serverSettings(
  { masterKey, ports }: DevState,
  database: DevDatabase,
  folder: DevFolder,
): NodeJS.ProcessEnv {
  return {
    ...inherited(process.env),
    PERCH_DATABASE_URL: database.serverUrl,
    PERCH_MIGRATION_DATABASE_URL: database.ownerUrl,
    PERCH_DATABASE_MAX_CONNECTIONS: "4",
    PERCH_VALKEY_URL: "",
    PERCH_RESTATE_INGRESS_URL: `http://127.0.0.1:${ports.ingress}`,
    PERCH_RESTATE_ADMIN_URL: `http://127.0.0.1:${ports.admin}`,
    PERCH_RESTATE_NODE_PORTS: String(ports.node),
    PERCH_RESTATE_IDENTITY_KEYS: "",
    PERCH_MASTER_KEY: masterKey,
    PERCH_HOST: "127.0.0.1",
    PERCH_PORT: String(ports.api),
    PERCH_PUBLIC_URL: process.env.PERCH_PUBLIC_URL || `http://127.0.0.1:${ports.api}`,
    PERCH_ALLOWED_HOSTS: allowedHosts(process.env.PERCH_PUBLIC_URL),
    PERCH_WORKER_HOST: "127.0.0.1",
    PERCH_WORKER_PORT: String(ports.worker),
    PERCH_WORKER_URL: "",
    PERCH_RELEASE: devRelease,
    // Tools, remote agents, model providers and webhooks of a developer are on the same machine.
    PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: process.env.PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES || "127.0.0.0/8,::1",
    PERCH_WEBHOOK_ALLOW_LOOPBACK: "true",
    // A developer sees all of a run.
    PERCH_DEFAULT_LOGS: process.env.PERCH_DEFAULT_LOGS || "full",
    // A saved draft answers at once, also after the first deployment.
    PERCH_DRAFT_BY_DEFAULT: "true",
    NODE_NO_WARNINGS: "1",
    // Three processes of the same code start one after the other.
    NODE_COMPILE_CACHE: join(folder.root, "compiled"),
  };
}

/** Runs one command of the server to its end, and returns its output. */
export async function runServerCommand(main: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], { env });
    return stdout.trim();
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw new Problem(`perch-server ${args[0]} failed.`, stderr?.trim());
  }
}

/** The port was free when it was chosen, seconds before the server came to use it. */
const takenPort = ({ api }: DevState["ports"]): Problem =>
  new Problem(
    `Another program took port ${api} while perch dev was starting.`,
    `Run \`${perchCommand("dev")}\` again: without --port it takes another one.`,
  );

/** Whether the server at this address is the one of this folder. Two `perch dev` that start together prefer the same port. */
const knowsKey = (url: string, key: string): Promise<boolean> =>
  fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${key}` }, signal: AbortSignal.timeout(10_000) }).then(
    ({ ok }) => ok,
    () => false,
  );

export async function startServer(
  { main }: ServerPackage,
  { url, key, ports }: DevState & { readonly key: string },
  folder: DevFolder,
  env: NodeJS.ProcessEnv,
): Promise<Child> {
  const preload = new URL(`./end-with-parent${extname(import.meta.filename)}`, import.meta.url).href;
  const child = startChild({
    name: "the server",
    command: process.execPath,
    args: ["--import", preload, main, "all"],
    env: { ...env, PERCH_LOG_LEVEL: process.env.PERCH_LOG_LEVEL || "info" },
    logFile: join(folder.logs, "server.log"),
  });
  try {
    await untilHealthy(child, [`${url}/readyz`], 60);
    if (!(await knowsKey(url, key))) throw takenPort(ports);
  } catch (error) {
    await child.stop(5);
    throw child.lastLines().includes(`The port ${ports.api} is in use`) ? takenPort(ports) : error;
  }
  return child;
}
