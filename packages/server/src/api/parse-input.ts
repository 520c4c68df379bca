import type { ErrorDetail, Operation } from "@perch/contract";
import type { z } from "zod";
import { ApiError } from "../platform/api-error.ts";

export interface RawInput {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

const valueAt = (root: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined | null)?.[key], root);

function toDetails(issue: z.core.$ZodIssue, raw: unknown, part: string): ErrorDetail[] {
  const field = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      field: field ? `${field}.${key}` : key,
      error: `Unknown ${part === "query" ? "parameter" : "field"}`,
    }));
  }
  if (issue.path.length > 0 && valueAt(raw, issue.path) === undefined) return [{ field, error: "Required" }];
  return [{ field: field || part, error: issue.message }];
}

const isPlainObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Enough to fix a request by; the error body stays small whatever was sent. */
const maxDetails = 20;
const maxDepth = 64;

/** PostgreSQL stores no NUL and no lone surrogate, in text or in JSON; unlimited nesting would overflow the stack. */
function findUnstorable(value: unknown, path: string, depth: number): ErrorDetail[] {
  if (typeof value === "string") {
    const broken = value.includes("\0") || !value.isWellFormed();
    return broken ? [{ field: path, error: "Holds a NUL or a broken Unicode character" }] : [];
  }
  if (value === null || typeof value !== "object") return [];
  if (depth === maxDepth) return [{ field: path.split(".", 4).join("."), error: `Nested more than ${maxDepth} deep` }];
  return Object.entries(value).flatMap(([name, inner]) => {
    const field = path ? `${path}.${name}` : name;
    return [...findUnstorable(name, field, depth), ...findUnstorable(inner, field, depth + 1)];
  });
}

const isTooDeep = (value: unknown, depth = 0): boolean =>
  value !== null &&
  typeof value === "object" &&
  (depth === maxDepth || Object.values(value).some((inner) => isTooDeep(inner, depth + 1)));

/** Parses what the contract names and refuses everything else, naming each problem. */
export function parseInput(operation: Operation, raw: RawInput): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  const details: ErrorDetail[] = [];
  for (const part of ["params", "query", "body"] as const) {
    const schema = operation[part];
    // A body of `null` is a body, and is left for the schema to refuse.
    const value = raw[part] === undefined ? {} : raw[part];
    if (!schema) {
      const extra = isPlainObject(value) ? Object.keys(value) : [part];
      details.push(
        ...extra.slice(0, maxDetails).map((field) => ({
          field,
          error: part === "body" ? "This operation takes no body" : "Unknown parameter",
        })),
      );
      continue;
    }
    // Before the schema: validation recurses as deep as its input.
    if (isTooDeep(value)) {
      details.push(...findUnstorable(value, "", 0).slice(0, maxDetails));
      continue;
    }
    const result = schema.safeParse(value);
    if (result.success) {
      input[part] = result.data;
      details.push(...findUnstorable(result.data, "", 0).slice(0, maxDetails));
    } else {
      const issues = result.error.issues.slice(0, maxDetails);
      details.push(...issues.flatMap((issue) => toDetails(issue, value, part)).slice(0, maxDetails));
    }
  }
  if (details.length === 0) return input;
  const [first] = details;
  const message =
    details.length === 1 && first?.error === "Required"
      ? `Missing required parameter: ${first.field}`
      : "Validation failed";
  throw new ApiError("invalid_request", message, { details });
}
