import type { ErrorDetail, Operation } from "@perch/contract";
import type { z } from "zod";
import { ApiError } from "../platform/api-error.ts";
import { boundsOf } from "./judge-bounds.ts";

/** The parts of a request: as they were sent, or as they were parsed. */
interface Input {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** Enough to fix a request by; the error body stays small whatever was sent. */
const maxDetails = 20;

const valueAt = (root: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined | null)?.[key], root);

const fieldOf = ({ path }: z.core.$ZodIssue): string => path.map(String).join(".");

/** Drops further issues of a value of the wrong type: a text is not too short to be a list. */
function withoutConsequences(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  const mistyped = new Set(issues.filter(({ code }) => code === "invalid_type").map(fieldOf));
  return issues.filter((issue) => issue.code === "invalid_type" || !mistyped.has(fieldOf(issue)));
}

/** The validator's own words, except those that only its authors understand. */
function describeIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_type" && issue.message.startsWith("Invalid input: expected int"))
    return "Invalid input: expected a whole number";
  if (issue.code === "invalid_type")
    return issue.message.replace(/^Invalid input: expected record,/, "Invalid input: expected object,");
  if (issue.code === "invalid_union" && "options" in issue && Array.isArray(issue.options))
    return `Invalid option: expected one of ${issue.options.map((option) => JSON.stringify(option)).join("|")}`;
  return issue.message;
}

function toDetails(issue: z.core.$ZodIssue, raw: unknown, part: string): ErrorDetail[] {
  const field = fieldOf(issue);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.slice(0, maxDetails).map((key) => ({
      field: field ? `${field}.${key}` : key,
      error: `Unknown ${part === "query" ? "parameter" : "field"}`,
    }));
  }
  if (issue.path.length > 0 && valueAt(raw, issue.path) === undefined) return [{ field, error: "Required" }];
  return [{ field: field || part, error: describeIssue(issue) }];
}

const isPlainObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

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

/** Whether `findUnstorable` finds nothing, which is nearly always so: without its paths, this costs little. */
function isStorable(value: unknown, depth: number): boolean {
  if (typeof value === "string") return !value.includes("\0") && value.isWellFormed();
  if (value === null || typeof value !== "object") return true;
  if (depth === maxDepth) return false;
  for (const name of Object.keys(value)) {
    if (!isStorable(name, depth)) return false;
    if (!isStorable((value as Record<string, unknown>)[name], depth + 1)) return false;
  }
  return true;
}

/** `Object.values` of a large map takes three times as long as its keys. */
function isTooDeep(value: unknown, depth = 0): boolean {
  if (value === null || typeof value !== "object") return false;
  if (depth === maxDepth) return true;
  for (const name of Object.keys(value))
    if (isTooDeep((value as Record<string, unknown>)[name], depth + 1)) return true;
  return false;
}

type Part = "params" | "query" | "body";

/** Parses one part of a request, and adds its problems to `details`. */
type ParsePart = (value: unknown, details: ErrorDetail[]) => unknown;

/** For a part that the operation does not have. */
const refusePart =
  (part: Part): ParsePart =>
  (value, details) => {
    const extra = isPlainObject(value) ? Object.keys(value) : [part];
    for (const field of extra.slice(0, maxDetails))
      details.push({ field, error: part === "body" ? "This operation takes no body" : "Unknown parameter" });
  };

function parsePart(part: Part, schema: z.ZodObject): ParsePart {
  const judgeBounds = boundsOf(schema);
  return (value, details) => {
    // Before the schema: validation recurses as deep as its input. Only a body can be deep.
    if (part === "body" && isTooDeep(value)) {
      details.push(...findUnstorable(value, "", 0).slice(0, maxDetails));
      return undefined;
    }
    const outOfBounds = judgeBounds?.(value);
    if (outOfBounds) {
      details.push({ field: outOfBounds.path.map(String).join("."), error: outOfBounds.message });
      return undefined;
    }
    const result = schema.safeParse(value);
    if (!result.success) {
      const issues = withoutConsequences(result.error.issues).slice(0, maxDetails);
      details.push(...issues.flatMap((issue) => toDetails(issue, value, part)).slice(0, maxDetails));
    } else if (!isStorable(result.data, 0)) {
      details.push(...findUnstorable(result.data, "", 0).slice(0, maxDetails));
    }
    return result.data;
  };
}

const createParsePart = (part: Part, schema: z.ZodObject | undefined): ParsePart =>
  schema ? parsePart(part, schema) : refusePart(part);

export type ParseInput = (raw: Input) => Input;

/** Parses the fields of the contract and refuses all others, naming each problem. */
export function createParseInput(operation: Operation): ParseInput {
  const parseParams = createParsePart("params", operation.params);
  const parseQuery = createParsePart("query", operation.query);
  const parseBody = createParsePart("body", operation.body);
  return (raw) => {
    const details: ErrorDetail[] = [];
    const input = {
      params: parseParams(raw.params ?? {}, details),
      query: parseQuery(raw.query ?? {}, details),
      // A body of `null` is a body, and is left for the schema to refuse.
      body: parseBody(raw.body === undefined ? {} : raw.body, details),
    };
    if (details.length > 0) throw invalidInput(details);
    return input;
  };
}

function invalidInput(details: readonly ErrorDetail[]): ApiError {
  const [first] = details;
  const message =
    details.length === 1 && first?.error === "Required"
      ? `Missing required parameter: ${first.field}`
      : "Validation failed";
  return new ApiError("invalid_request", message, { details: details.slice(0, maxDetails) });
}
