import { createHash } from "node:crypto";
import { ApiError, invalid } from "../platform/api-error.ts";
import { canonicalJson } from "./idempotent-request.ts";

/**
 * Fields that do not identify a resource's state. Some change by themselves: with time, use or deliveries. A change of
 * `status` by a caller also moves `updated_at` or `revoked_at`. The others are shown only by the answer that created
 * them.
 */
const leftOut = new Set([
  "status",
  "last_used_at",
  "failing_since",
  "previous_secret_expires_at",
  "key",
  "secret",
  "warnings",
]);

/** The entity tag of a resource, as its answers show it. Readers cannot distinguish two states with the same tag. */
export function etagOf(resource: object): string {
  const state = Object.fromEntries(Object.entries(resource).filter(([field]) => !leftOut.has(field)));
  return `"${createHash("sha256").update(canonicalJson(state)).digest("base64url")}"`;
}

const tagList = /^\s*(W\/)?"[\x21\x23-\x7e\x80-\xff]*"(\s*,\s*(W\/)?"[\x21\x23-\x7e\x80-\xff]*")*\s*$/;

/** Checks the header `If-Match` against a resource as it is now. */
export type RequireMatch = (resource: object) => void;

const matchesAnything: RequireMatch = () => undefined;

/** Parses `If-Match` as in RFC 9110, section 13.1.1. A weak tag never matches. */
export function parseIfMatch(header: string | undefined): RequireMatch {
  if (header === undefined || header.trim() === "*") return matchesAnything;
  if (!tagList.test(header)) throw invalid("If-Match", "Expected the `ETag` of an answer, in its quotes, or `*`");
  const tags = new Set(header.match(/(W\/)?"[^"]*"/g));
  return (resource) => {
    if (tags.has(etagOf(resource))) return;
    throw new ApiError(
      "precondition_failed",
      "This was changed since you read it, so nothing was changed now. Read it again, and repeat your change with its new `ETag` in `If-Match`.",
    );
  };
}
