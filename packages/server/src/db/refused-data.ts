import { ShareRefusal } from "../fairness/shares.ts";
import { isConnectionFailure } from "./connection-failure.ts";

/** The fields that PostgreSQL's driver adds to an error. */
interface StatementError extends Error {
  /** The SQLSTATE. */
  readonly code?: unknown;
  /** The function of the server that raised it. */
  readonly routine?: unknown;
}

const stateOf = (error: unknown): string => {
  const { code } = error instanceof Error ? (error as StatementError) : {};
  return typeof code === "string" ? code : "";
};

/** A row without a partition breaks no rule of ours: upkeep is late, and creates the partition. */
const isMissingPartition = (error: unknown): boolean =>
  error instanceof Error && (error as StatementError).routine === "ExecFindPartition";

/**
 * Whether PostgreSQL refuses the data of a statement, and would refuse them for ever: a value (SQLSTATE 22), a constraint (23), or
 * their size or depth (54).
 */
export const isDataRefused = (error: unknown): boolean =>
  /^(22|23|54)/.test(stateOf(error)) && !isMissingPartition(error);

/** Out of resources, stopped or overloaded, its disk failing, or a standby that is not yet the primary. */
const unavailableStates = /^(53|57|58|25006)/;

/** Whether PostgreSQL cannot be reached or cannot work at the moment, for this organisation: the same statement may succeed later. */
export const isDatabaseUnavailable = (error: unknown): boolean =>
  error instanceof ShareRefusal ||
  isConnectionFailure(error) ||
  isMissingPartition(error) ||
  unavailableStates.test(stateOf(error));

const reasons: readonly (readonly [RegExp, string])[] = [
  [/^(22P05|22P02|22021)/, "they hold a character that cannot be stored"],
  [/^22003/, "they hold a number that is too large"],
  [/^54/, "they are too large, or nested too deep"],
  [/^23/, "they break a rule of the database"],
];

/** Why the database refuses data, in words for users: without the data, and without the database's own message. */
export function describeRefusedData(error: unknown): string {
  const state = stateOf(error);
  const reason = reasons.find(([pattern]) => pattern.test(state))?.[1] ?? "they hold a value that cannot be stored";
  return `${reason} (SQLSTATE ${state})`;
}
