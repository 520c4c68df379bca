import type { InstallationPart } from "@perch/contract";

/** The forms that show a check, each with its name there. All checks are in `perch-server doctor`. */
interface Forms {
  readonly doctor: string;
  readonly readyz?: string;
  /** The label of `perch_dependency_up`. */
  readonly metrics?: string;
  /** The part in `GET /v1/installation`. */
  readonly installation?: InstallationPart["name"];
}

interface HealthCheck {
  readonly forms: Forms;
  /** `down`: a node does not start, or `/readyz` answers 503. `degraded`: it serves, and `/readyz` warns. */
  readonly failure: "down" | "degraded";
  /** The functions that do not work in the meantime, for the log of a node that goes on without. */
  readonly effect?: string;
  /** The variable with its address. */
  readonly setting?: string;
  readonly advice: string;
}

export const startOrCorrect = (setting: string): string => `Start it, or correct ${setting}.`;

export const migrateCommand = "perch-server migrate";

export const describePending = (pending: readonly string[]): string => `migrations are pending: ${pending.join(", ")}`;

const prepare = "Let a superuser run what this prints: perch-server prepare-database";

/** Everything that is examined of an installation, in the order in which `perch-server doctor` reports it. */
export const healthChecks = {
  /** Whether all settings can be read. */
  settings: {
    forms: { doctor: "settings" },
    failure: "down",
    advice: "Every setting is explained in docs/operations/configuration.md.",
  },
  /** Whether PostgreSQL answers, is recent enough and takes writes. */
  database: {
    forms: { doctor: "database", readyz: "database", metrics: "database", installation: "database" },
    failure: "down",
    setting: "PERCH_DATABASE_URL",
    advice: startOrCorrect("PERCH_DATABASE_URL"),
  },
  /** Whether this machine and the database have the same time. */
  clock: {
    forms: { doctor: "clock" },
    failure: "degraded",
    advice: "Let NTP set the clocks of both: tokens, signatures and limits depend on the time.",
  },
  /** Whether row-level security limits the role of the server. */
  serverRole: {
    forms: { doctor: "server role" },
    failure: "down",
    advice: prepare,
  },
  /** Whether the role that owns the tables may migrate the same database. */
  ownerRole: {
    forms: { doctor: "owner role" },
    failure: "degraded",
    setting: "PERCH_MIGRATION_DATABASE_URL",
    advice: prepare,
  },
  /** Whether the database has the extensions that Perch needs. */
  extensions: {
    forms: { doctor: "extensions" },
    failure: "down",
    advice: "A superuser has to run in the database:",
  },
  /** Whether the database has every migration and function of this release. */
  migrations: {
    forms: { doctor: "migrations", readyz: "database", installation: "database" },
    failure: "down",
    advice: `Run: ${migrateCommand}`,
  },
  /** Whether the release that takes new runs understands what this one does. */
  activeRelease: {
    forms: { doctor: "active release" },
    failure: "degraded",
    advice: "Run: perch-server activate-release",
  },
  /** Whether the master key opens the data keys. */
  masterKey: {
    forms: { doctor: "master key" },
    failure: "down",
    advice: "Run: perch-server rotate-master-key",
  },
  /** Whether Valkey answers and takes writes. */
  valkey: {
    forms: { doctor: "Valkey", readyz: "valkey", metrics: "valkey", installation: "valkey" },
    failure: "degraded",
    effect: "limits are per process, and no tokens are streamed",
    setting: "PERCH_VALKEY_URL",
    advice: startOrCorrect("PERCH_VALKEY_URL"),
  },
  /** Whether the issuer can sign people in. */
  signIn: {
    forms: { doctor: "sign-in of people" },
    failure: "degraded",
    setting: "PERCH_OIDC",
    advice: "Correct `issuer` in PERCH_OIDC, or let this machine reach it.",
  },
  /** Whether the engine answers where runs begin. */
  engine: {
    forms: { doctor: "engine ingress", readyz: "engine", metrics: "engine", installation: "engine" },
    failure: "degraded",
    effect: "agents cannot be invoked or deployed",
    setting: "PERCH_RESTATE_INGRESS_URL",
    advice: "Start that node, or correct PERCH_RESTATE_INGRESS_URL.",
  },
  /** Whether the engine answers where workers register. */
  engineAdmin: {
    forms: { doctor: "engine admin", metrics: "engine", installation: "engine_admin" },
    failure: "degraded",
    setting: "PERCH_RESTATE_ADMIN_URL",
    advice: "Start that node, or correct PERCH_RESTATE_ADMIN_URL.",
  },
  /** Whether the engine reaches workers of the active release. */
  workers: {
    forms: { doctor: "workers", installation: "workers" },
    failure: "degraded",
    advice: "Start one: perch-server work",
  },
} as const satisfies Record<string, HealthCheck>;

export type HealthCheckId = keyof typeof healthChecks;
export const healthCheckIds = Object.keys(healthChecks) as HealthCheckId[];

type Checks = typeof healthChecks;
type Matching<Shape> = { [Id in HealthCheckId]: Checks[Id] extends Shape ? Id : never }[HealthCheckId];
type Required = Matching<{ failure: "down"; forms: { readyz: string } }>;
type Measured = Matching<{ forms: { metrics: string } }>;

/** Without these, an API node is not ready. */
export type RequiredName = Checks[Required]["forms"]["readyz"];
/** Without these it still is: each is a warning. */
export type DispensableId = Matching<{ failure: "degraded"; forms: { readyz: string } }>;
export type DependencyName = Checks[Measured]["forms"]["metrics"];
export type PartId = Matching<{ forms: { installation: string } }>;
/** Checks of parts that have an address of their own. */
export type AddressedId = Matching<{ setting: string }>;
