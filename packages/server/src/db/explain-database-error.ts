import { healthChecks, startOrCorrect } from "../platform/health-checks.ts";
import { isConnectionFailure } from "./connection-failure.ts";

/** The database that a command connects to, and the setting that the operator has to change if it is wrong. */
export interface Target {
  readonly url: string;
  /** The setting or option that the address came from. */
  readonly source: string;
}

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string" ? error.code : "";

/** The error and its causes, the inner ones last. One of several addresses of a host stands for all. */
function chainOf(error: unknown): readonly unknown[] {
  if (!(error instanceof Error)) return [];
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  return [error, ...chainOf(inner)];
}

/** A part that cannot be decoded is shown as it is. */
function decoded(decode: (text: string) => string, text: string): string {
  try {
    return decode(text);
  } catch {
    return text;
  }
}

function placeOf(url: string): { readonly host: string; readonly role: string; readonly database: string } {
  const { hostname, port, username, pathname, searchParams } = new URL(url);
  const host = searchParams.get("host") ?? (decoded(decodeURIComponent, hostname) || "localhost");
  const role = decoded(decodeURIComponent, username) || "of this user";
  return {
    host: host.startsWith("/") ? host : `${host}:${searchParams.get("port") ?? (port || "5432")}`,
    role,
    database: decoded(decodeURI, pathname.slice(1)) || role,
  };
}

const prepare = "perch-server prepare-database";

type Explain = (place: ReturnType<typeof placeOf>, source: string, message: string) => string;

const lacksRights: Explain = ({ role, host }, source, message) =>
  `The role ${role} lacks rights in PostgreSQL at ${host} (${message}). Check ${source}, and let a superuser run what this prints: ${prepare}`;

const lacksTables: Explain = ({ database }, _, message) =>
  `The database ${database} lacks what this release needs (${message}). ${healthChecks.migrations.advice}`;

const isStopping: Explain = ({ host }, _, message) => `PostgreSQL at ${host} is not ready (${message}). Try again.`;

/** The types and the index that migrations take from pgvector. */
const ofVector = /"(vector|halfvec|hnsw)"/;

/** By SQLSTATE. */
const explanations: Readonly<Record<string, Explain>> = {
  "28P01": ({ role, host }, source) =>
    `PostgreSQL at ${host} refuses the role ${role} or its password. Correct ${source}. To make the roles: ${prepare}`,
  "28000": ({ role, host }, source, message) =>
    `PostgreSQL at ${host} does not let the role ${role} in (${message}). Correct ${source}. To make the roles: ${prepare}`,
  "3D000": ({ database, host }, source) =>
    `PostgreSQL at ${host} has no database ${database}. Correct ${source}, or create it: ${prepare}`,
  "42501": lacksRights,
  "53300": ({ host }) =>
    `PostgreSQL at ${host} has no connection left. Raise its max_connections, or lower PERCH_DATABASE_MAX_CONNECTIONS.`,
  "42P01": lacksTables,
  "42703": lacksTables,
  "42883": lacksTables,
  "57P01": isStopping,
  "57P02": isStopping,
  "57P03": isStopping,
  "42704": ({ database, host }, _, message) =>
    ofVector.test(message)
      ? `The database ${database} lacks the extension vector. A superuser has to run in it: create extension if not exists vector;`
      : `PostgreSQL at ${host} is not prepared for Perch (${message}). Let a superuser run what this prints: ${prepare}`,
};

/** The client's own refusals, which have no code. */
const clientMessages: readonly (readonly [RegExp, Explain])[] = [
  [
    /client password must be a string/,
    ({ role, host }, source) =>
      `PostgreSQL at ${host} asks for the password of the role ${role}. Put it into ${source}.`,
  ],
  [
    /does not support SSL|certificate|self-signed/i,
    ({ host }, source, message) =>
      `No TLS connection to PostgreSQL at ${host} (${message}). Correct sslmode in ${source}.`,
  ],
];

/** One line of advice about a failure of PostgreSQL, or undefined for one that only a developer can explain. */
export function explainDatabaseError(error: unknown, { url, source }: Target): string | undefined {
  const place = placeOf(url);
  for (const each of chainOf(error).toReversed()) {
    const code = codeOf(each);
    const { message } = each as Error;
    const explain = explanations[code] ?? clientMessages.find(([pattern]) => pattern.test(message))?.[1];
    if (explain) return explain(place, source, message);
    if (isConnectionFailure(each))
      return `PostgreSQL does not answer at ${place.host} (${code || message}). ${startOrCorrect(source)}`;
  }
  return undefined;
}
