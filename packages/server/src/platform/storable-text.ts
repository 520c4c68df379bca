/** PostgreSQL's text holds neither NUL nor half a character. */
export const storableText = (text: string, maxLength = Number.POSITIVE_INFINITY): string =>
  text.slice(0, maxLength).toWellFormed().replaceAll("\0", "");

/**
 * Deeper JSON is not stored, because PostgreSQL and the JSON readers and writers here have a limited stack. Requests
 * have the same limit.
 */
const maxDepth = 64;
const tooDeep = `[nested more than ${maxDepth} deep]`;

/** Whether a value from JSON is nested deeper than `storableJson` keeps it. */
export const isNestedTooDeep = (value: unknown, depth = 0): boolean =>
  value !== null &&
  typeof value === "object" &&
  (depth === maxDepth || Object.values(value).some((inner) => isNestedTooDeep(inner, depth + 1)));

/** A value from JSON as jsonb holds it: texts and names without NUL and half characters, no number that JSON lacks, not too deep. */
export function storableJson(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return storableText(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (value === null || typeof value !== "object") return value;
  if (depth === maxDepth) return tooDeep;
  if (Array.isArray(value)) return value.map((inner) => storableJson(inner, depth + 1));
  // Defines each name, so that `__proto__` is one like any other.
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [storableText(name), storableJson(inner, depth + 1)]),
  );
}

const firstYear = "0001-01-01T00:00:00.000Z";

/** Truncated to milliseconds, as the columns are, and not before the year 1, which PostgreSQL does not accept. */
export function storableTime(text: string): string {
  const time = new Date(text).toISOString();
  return time < firstYear ? firstYear : time;
}
