/** PostgreSQL's text holds neither NUL nor half a character. */
export const storableText = (text: string, maxLength = Number.POSITIVE_INFINITY): string =>
  text.slice(0, maxLength).toWellFormed().replaceAll("\0", "");

const firstYear = "0001-01-01T00:00:00.000Z";

/** Truncated to milliseconds, as the columns are, and not before the year 1, which PostgreSQL does not accept. */
export function storableTime(text: string): string {
  const time = new Date(text).toISOString();
  return time < firstYear ? firstYear : time;
}
