import { loopback, ports } from "./layout.ts";
import { Problem } from "./problem.ts";

export const developmentPassword = "perch-development";

const defaultAddresses = {
  PERCH_DATABASE_ADMIN_URL: `postgres://postgres:${developmentPassword}@${loopback}:${ports.postgres}/postgres`,
  PERCH_VALKEY_URL: `redis://${loopback}:${ports.valkey}`,
  PERCH_RESTATE_INGRESS_URL: `http://${loopback}:${ports.restateIngress}`,
  PERCH_RESTATE_ADMIN_URL: `http://${loopback}:${ports.restateAdmin}`,
} as const;

type Variable = keyof typeof defaultAddresses;

/** A variable that holds our own address comes from a sourced `.services/env` and hands over nothing. */
function given(variable: Variable): string | undefined {
  const value = process.env[variable];
  return value && value !== defaultAddresses[variable] ? value : undefined;
}

function address(variable: Variable): string {
  return given(variable) ?? defaultAddresses[variable];
}

export const isExternal = {
  postgres: given("PERCH_DATABASE_ADMIN_URL") !== undefined,
  valkey: given("PERCH_VALKEY_URL") !== undefined,
  restate: given("PERCH_RESTATE_INGRESS_URL") !== undefined || given("PERCH_RESTATE_ADMIN_URL") !== undefined,
} as const;

export const addresses = {
  databaseAdmin: address("PERCH_DATABASE_ADMIN_URL"),
  valkey: address("PERCH_VALKEY_URL"),
  restateIngress: address("PERCH_RESTATE_INGRESS_URL").replace(/\/$/, ""),
  restateAdmin: address("PERCH_RESTATE_ADMIN_URL").replace(/\/$/, ""),
} as const;

/** What a person may see: user, host and port, no password. */
export function withoutPassword(url: string): string {
  if (!URL.canParse(url)) return url; // reported by assertAddresses, once there is someone to catch it
  const shown = new URL(url);
  shown.password = "";
  return shown.href;
}

export function parsed(url: string): URL {
  if (!URL.canParse(url)) throw new Problem(`not a URL: ${url}`);
  return new URL(url);
}

export function assertAddresses(): void {
  const one = given("PERCH_RESTATE_INGRESS_URL") === undefined;
  const other = given("PERCH_RESTATE_ADMIN_URL") === undefined;
  if (one !== other) throw new Problem("set both PERCH_RESTATE_INGRESS_URL and PERCH_RESTATE_ADMIN_URL, or neither");
  for (const url of Object.values(addresses)) parsed(url);
}

/** The database as one of our roles. */
function databaseUrl(role: string): string {
  const url = parsed(addresses.databaseAdmin);
  url.username = role;
  url.password = developmentPassword;
  url.pathname = "/perch";
  return url.href;
}

/** What `.services/env` tells the server, the tests and the bench. */
export function environment(): Record<string, string> {
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
