import type { ErrorDetail } from "@perch/contract";
import type { Share } from "../../fairness/shares.ts";
import { createWorkThread, type NoAnswer, type WorkMeter } from "../../fairness/work-thread.ts";
import { ApiError, invalid } from "../../platform/api-error.ts";

export interface CheckRequest {
  /** JSON texts: the thread parses them, so that the main thread does not copy large values. */
  readonly schema: string;
  readonly value: string;
}

export type CheckResponse =
  /** Paths are JSON pointers. Empty: the value fits. */
  { readonly failures: readonly { readonly path: string; readonly error: string }[] } | { readonly unusable: string };

/** The limit of processor time. A check takes a few milliseconds, and only a malicious schema takes longer. */
const maxMs = 50;
const maxSchemaLength = 256 * 1024;
const maxValueLength = 256 * 1024;
export interface CheckSchema {
  /** Throws a 400 that names each problem, under `field`. */
  readonly check: (organisationId: string, schema: object, value: unknown, field: string) => Promise<void>;
}

const tooSlow = (field: string) =>
  invalid(
    field,
    `The schema takes longer than ${maxMs} ms to check, so nothing can be checked against it. Simplify it in the agent's definition or the tool's server`,
  );

/** `/order/0/total` under `arguments` is `arguments.order.0.total`. */
const fieldOf = (field: string, path: string): string =>
  [field, ...path.split("/").slice(1)].map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~")).join(".");

function refuse(field: string, answer: CheckResponse | NoAnswer): void {
  if (answer === "too slow" || answer === "ended") throw tooSlow(field);
  if ("unusable" in answer)
    throw invalid(field, `The schema cannot be used, so nothing can be checked against it: ${answer.unusable}`);
  if (answer.failures.length === 0) return;
  const details: ErrorDetail[] = answer.failures.map(({ path, error }) => ({ field: fieldOf(field, path), error }));
  throw new ApiError("invalid_request", "Validation failed", { details });
}

interface CheckSchemaDeps {
  readonly processorTime: Pick<Share, "acquire">;
  readonly onWorked: WorkMeter;
}

/**
 * Checks texts of persons against schemas that organisations, and servers that they use, wrote. It does so in a thread,
 * which is ended when it takes too long, because a malicious schema can make a check take hours.
 */
export function createCheckSchema({ processorTime, onWorked }: CheckSchemaDeps): CheckSchema {
  const thread = createWorkThread<CheckRequest, CheckResponse>({
    url: new URL("./check-schema-thread.ts", import.meta.url),
    processorTime,
    onWorked: (ms) => onWorked("schema_check", ms),
    maxMs,
  });
  return {
    check: async (organisationId, schema, value, field) => {
      const request = { schema: JSON.stringify(schema), value: JSON.stringify(value) };
      if (request.value.length > maxValueLength)
        throw invalid(field, `Expected at most ${maxValueLength} characters of JSON`);
      if (request.schema.length > maxSchemaLength)
        throw invalid(
          field,
          `The schema is longer than ${maxSchemaLength} characters, so nothing can be checked against it`,
        );
      refuse(field, await thread.ask(organisationId, request));
    },
  };
}
