/** PostgreSQL's text holds neither NUL nor half a character. */
export const storableText = (text: string, mostLength = Number.POSITIVE_INFINITY): string =>
  text.slice(0, mostLength).toWellFormed().replaceAll("\0", "");
