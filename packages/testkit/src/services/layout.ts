import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { Problem } from "./commands.ts";

export const checkoutDir = resolve(import.meta.dirname, "../../../..");
export const servicesDir = join(checkoutDir, ".services");
export const envFile = join(servicesDir, "env");
export const lockFile = join(servicesDir, "lock");
export const runDir = join(servicesDir, "run");
export const logDir = join(servicesDir, "log");

export const loopback = "127.0.0.1";
export const developmentPassword = "perch-development";
export const portVariable = "PERCH_SERVICES_PORT_BASE";
/** The port base that this checkout used last. */
export const portBaseFile = join(runDir, "port-base");
const lastPortBase = existsSync(portBaseFile) ? readFileSync(portBaseFile, "utf8").trim() : "";
export const portBase = Number(process.env[portVariable] || lastPortBase || 7400);

export const ports = {
  postgres: portBase + 17,
  restateNode: portBase + 22,
  valkey: portBase + 79,
  restateIngress: portBase + 80,
  restateAdmin: portBase + 90,
} as const;

export function assertPortBase(): void {
  if (Number.isInteger(portBase) && portBase >= 1024 && portBase <= 65_400) return;
  throw new Problem(`${portVariable}=${process.env[portVariable]}: expected a whole number from 1024 to 65400`);
}

const defaultAddresses = {
  PERCH_DATABASE_ADMIN_URL: `postgres://postgres:${developmentPassword}@${loopback}:${ports.postgres}/postgres`,
  PERCH_VALKEY_URL: `redis://${loopback}:${ports.valkey}`,
  PERCH_RESTATE_INGRESS_URL: `http://${loopback}:${ports.restateIngress}`,
  PERCH_RESTATE_ADMIN_URL: `http://${loopback}:${ports.restateAdmin}`,
} as const;

type AddressVariable = keyof typeof defaultAddresses;

/** A variable with our own address comes from a sourced `.services/env`: the service is not external. */
function externalAddress(variable: AddressVariable): string | undefined {
  const value = process.env[variable];
  return value && value !== defaultAddresses[variable] ? value : undefined;
}

const addressOf = (variable: AddressVariable): string => externalAddress(variable) ?? defaultAddresses[variable];

export const isExternal = {
  postgres: externalAddress("PERCH_DATABASE_ADMIN_URL") !== undefined,
  valkey: externalAddress("PERCH_VALKEY_URL") !== undefined,
  restate:
    externalAddress("PERCH_RESTATE_INGRESS_URL") !== undefined ||
    externalAddress("PERCH_RESTATE_ADMIN_URL") !== undefined,
} as const;

export const addresses = {
  databaseAdmin: addressOf("PERCH_DATABASE_ADMIN_URL"),
  valkey: addressOf("PERCH_VALKEY_URL"),
  restateIngress: addressOf("PERCH_RESTATE_INGRESS_URL").replace(/\/$/, ""),
  restateAdmin: addressOf("PERCH_RESTATE_ADMIN_URL").replace(/\/$/, ""),
} as const;

/** The address for display: user, host and port. */
export function withoutPassword(url: string): string {
  if (!URL.canParse(url)) return url; // assertAddresses reports it
  const shown = new URL(url);
  shown.password = "";
  return shown.href;
}

export function parseUrl(url: string): URL {
  if (!URL.canParse(url)) throw new Problem(`not a URL: ${url}`);
  return new URL(url);
}

export function assertAddresses(): void {
  const hasIngress = externalAddress("PERCH_RESTATE_INGRESS_URL") !== undefined;
  const hasAdmin = externalAddress("PERCH_RESTATE_ADMIN_URL") !== undefined;
  if (hasIngress !== hasAdmin)
    throw new Problem("set both PERCH_RESTATE_INGRESS_URL and PERCH_RESTATE_ADMIN_URL, or neither");
  for (const url of Object.values(addresses)) parseUrl(url);
}

/** The address of the database `perch` for one of our roles. */
function databaseUrl(role: string): string {
  const url = parseUrl(addresses.databaseAdmin);
  url.username = role;
  url.password = developmentPassword;
  url.pathname = "/perch";
  return url.href;
}

/** The settings of the server, the tests and the benchmarks. */
function environment(): Record<string, string> {
  const chosen = isExternal.postgres ? process.env : {};
  return {
    PERCH_DATABASE_URL: chosen.PERCH_DATABASE_URL || databaseUrl("perch_server"),
    PERCH_MIGRATION_DATABASE_URL: chosen.PERCH_MIGRATION_DATABASE_URL || databaseUrl("perch_owner"),
    PERCH_DATABASE_ADMIN_URL: addresses.databaseAdmin,
    PERCH_VALKEY_URL: addresses.valkey,
    PERCH_RESTATE_INGRESS_URL: addresses.restateIngress,
    PERCH_RESTATE_ADMIN_URL: addresses.restateAdmin,
  };
}

/** `node --env-file` and a shell both take single quotes literally. */
function toEnvLine([name, value]: [string, string]): string {
  return /^[\w./:@+=,%-]*$/.test(value) ? `${name}=${value}` : `${name}='${value.replaceAll("'", "%27")}'`;
}

export function writeEnvFile(): void {
  const before = existsSync(envFile) ? parseEnv(readFileSync(envFile, "utf8")) : {};
  // Data already encrypted with the key would be unreadable under a new one.
  const masterKey = before.PERCH_MASTER_KEY || randomBytes(32).toString("base64");
  const lines = Object.entries({ ...environment(), PERCH_MASTER_KEY: masterKey }).map(toEnvLine);
  const partial = `${envFile}.${process.pid}`;
  writeFileSync(partial, `# written by \`pnpm services up\`; only PERCH_MASTER_KEY is kept\n${lines.join("\n")}\n`, {
    mode: 0o600,
  });
  renameSync(partial, envFile);
}
