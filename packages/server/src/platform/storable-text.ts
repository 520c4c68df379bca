/** PostgreSQL's text holds neither NUL nor half a character. */
export const storableText = (text: string, mostLength = Number.POSITIVE_INFINITY): string =>
  text.slice(0, mostLength).toWellFormed().replaceAll("\0", "");

const firstYear = "0001-01-01T00:00:00.000Z";

/** To the millisecond, as its columns are, and not in the year 0, which it does not know. */
export function storableTime(text: string): string {
  const time = new Date(text).toISOString();
  return time < firstYear ? firstYear : time;
}
