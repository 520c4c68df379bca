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
  /** Completes "whether". */
  readonly examines: string;
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
  settings: {
    examines: "all settings can be read",
    forms: { doctor: "settings" },
    failure: "down",
    advice: "Every setting is explained in docs/operations/configuration.md.",
  },
  database: {
    examines: "PostgreSQL answers, is recent enough and takes writes",
    forms: { doctor: "database", readyz: "database", metrics: "database", installation: "database" },
    failure: "down",
    setting: "PERCH_DATABASE_URL",
    advice: startOrCorrect("PERCH_DATABASE_URL"),
  },
  clock: {
    examines: "this machine and the database have the same time",
    forms: { doctor: "clock" },
    failure: "degraded",
    advice: "Let NTP set the clocks of both: tokens, signatures and limits depend on the time.",
  },
  serverRole: {
    examines: "row-level security limits the role of the server",
    forms: { doctor: "server role" },
    failure: "down",
    advice: prepare,
  },
  ownerRole: {
    examines: "the role that owns the tables may migrate the same database",
    forms: { doctor: "owner role" },
    failure: "degraded",
    setting: "PERCH_MIGRATION_DATABASE_URL",
    advice: prepare,
  },
  extensions: {
    examines: "the database has the extensions that Perch needs",
    forms: { doctor: "extensions" },
    failure: "down",
    advice: "A superuser has to run in the database:",
  },
  migrations: {
    examines: "the database has every migration and function of this release",
    forms: { doctor: "migrations", readyz: "database", installation: "database" },
    failure: "down",
    advice: `Run: ${migrateCommand}`,
  },
  masterKey: {
    examines: "the master key opens the data keys",
    forms: { doctor: "master key" },
    failure: "down",
    advice: "Run: perch-server rotate-master-key",
  },
  valkey: {
    examines: "Valkey answers and takes writes",
    forms: { doctor: "Valkey", readyz: "valkey", metrics: "valkey", installation: "valkey" },
    failure: "degraded",
    effect: "limits are per process, and no tokens are streamed",
    setting: "PERCH_VALKEY_URL",
    advice: startOrCorrect("PERCH_VALKEY_URL"),
  },
  signIn: {
    examines: "the issuer can sign people in",
    forms: { doctor: "sign-in of people" },
    failure: "degraded",
    setting: "PERCH_OIDC",
    advice: "Correct `issuer` in PERCH_OIDC, or let this machine reach it.",
  },
  engine: {
    examines: "the engine answers where runs begin",
    forms: { doctor: "engine ingress", readyz: "engine", metrics: "engine", installation: "engine" },
    failure: "degraded",
    effect: "agents cannot be invoked or deployed",
    setting: "PERCH_RESTATE_INGRESS_URL",
    advice: "Start that node, or correct PERCH_RESTATE_INGRESS_URL.",
  },
  engineAdmin: {
    examines: "the engine answers where workers register",
    forms: { doctor: "engine admin", metrics: "engine", installation: "engine_admin" },
    failure: "degraded",
    setting: "PERCH_RESTATE_ADMIN_URL",
    advice: "Start that node, or correct PERCH_RESTATE_ADMIN_URL.",
  },
  workers: {
    examines: "the engine reaches workers of the active release",
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
