import recordedErrors from "../examples/errors.json" with { type: "json" };
import recordedOperations from "../examples/operations.json" with { type: "json" };
import type { ErrorBody, ErrorCode } from "./errors.ts";
import type { OperationKey } from "./operations.ts";

/** One request that succeeded, and its answer. */
export interface OperationExample {
  readonly request: {
    readonly params?: Readonly<Record<string, string>>;
    readonly query?: Readonly<Record<string, string | number | boolean>>;
    readonly body?: unknown;
  };
  readonly response: unknown;
  /** Body of 202, if the operation may go on in the background. */
  readonly accepted?: unknown;
  /** Data of one event, if the operation can be watched. */
  readonly event?: unknown;
}

/** Recorded by `scripts/record-examples`, which also documents how to record them again. */
export const operationExamples: Readonly<Partial<Record<OperationKey, OperationExample>>> = recordedOperations;
export const errorExamples = recordedErrors as Readonly<Partial<Record<ErrorCode, ErrorBody>>>;
