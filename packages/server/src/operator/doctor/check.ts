import { type AddressedId, type HealthCheckId, healthChecks } from "../../platform/health-checks.ts";
import { OperatorError } from "../../platform/operator-error.ts";
import { MasterKeyError } from "../../platform/sealing.ts";
import { NoAnswer, withinLimit } from "../../platform/within-limit.ts";

/** `skipped`: a check that it depends on has failed, so nothing is known. */
export type Status = "ok" | "warning" | "failed" | "skipped";

export interface Finding {
  readonly name: string;
  readonly status: Status;
  /** The finding; for a warning and a failure also the advice. */
  readonly message: string;
}

export type Result = Omit<Finding, "name">;

export const ok = (message: string): Result => ({ status: "ok", message });
export const warning = (message: string): Result => ({ status: "warning", message });
export const failed = (message: string): Result => ({ status: "failed", message });
export const skipped = (message: string): Result => ({ status: "skipped", message });

/** A check under way: all begin at once, and end in any order. */
export interface Check {
  readonly name: string;
  readonly findings: Promise<readonly Finding[]>;
}

/** A resource that one check has opened for others; undefined if it could not. */
export interface Needed<T> {
  /** Why the others are skipped then. */
  readonly otherwise: string;
  readonly value: Promise<T | undefined>;
}

/** The result of a check if the variable with the address cannot be read. */
export const unreadable = (id: AddressedId): Result =>
  skipped(`${healthChecks[id].setting} cannot be read: see settings`);

/** The time limit of one check. */
export const limitMs = 5000;

/** Turns an error into one line of advice, or into undefined. */
export type Explain = (error: unknown) => string | undefined;

function describe(error: unknown, explain: Explain): string {
  if (error instanceof OperatorError || error instanceof MasterKeyError) return error.message;
  if (error instanceof NoAnswer) return `There was ${error.message}. See whether that part hangs, then try again.`;
  return explain(error) ?? `${error instanceof Error ? error.message : String(error)}. See the log of that part.`;
}

/** Never rejects, and ends within the limit. */
export function beginCheck(
  id: HealthCheckId,
  work: () => Promise<Result | readonly Result[]>,
  explain: Explain = () => undefined,
): Check {
  const name = healthChecks[id].forms.doctor;
  const results = withinLimit(limitMs, work).catch((error: unknown) => failed(describe(error, explain)));
  return { name, findings: results.then((found) => [found].flat().map((each) => ({ name, ...each }))) };
}

/** The same for a check that needs a resource which another one opens: its time counts from then. */
export function beginCheckWith<T>(
  id: HealthCheckId,
  { value, otherwise }: Needed<T>,
  work: (value: T) => Promise<Result | readonly Result[]>,
  explain?: Explain,
): Check {
  const name = healthChecks[id].forms.doctor;
  const findings = value.then((opened) =>
    opened === undefined ? [{ name, ...skipped(otherwise) }] : beginCheck(id, () => work(opened), explain).findings,
  );
  return { name, findings };
}
