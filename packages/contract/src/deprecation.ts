/** An operation that will be removed. The document and every answer announce it, for at least `minNoticeMonths`. */
export interface Deprecation {
  /** The day from which it is deprecated, `2026-01-31`. */
  readonly since: string;
  /** The day from which it may be gone. */
  readonly sunset: string;
  /** The replacement, as a sentence. */
  readonly use: string;
}

const minNoticeMonths = 12;

const dayPattern = /^\d{4}-\d{2}-\d{2}$/;

function startOf(day: string): Date {
  const date = new Date(`${day}T00:00:00Z`);
  if (!dayPattern.test(day) || Number.isNaN(date.getTime())) throw new Error(`${day} is no day such as 2026-01-31`);
  return date;
}

/** Whether its users have the time that v1 promises them. */
export function isAnnouncedInTime({ since, sunset }: Pick<Deprecation, "since" | "sunset">): boolean {
  const earliest = startOf(since);
  earliest.setUTCMonth(earliest.getUTCMonth() + minNoticeMonths);
  return startOf(sunset) >= earliest;
}

/**
 * Headers of every answer of a deprecated operation: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and a `Link` to the
 * reference.
 */
export function deprecationHeaders(
  { since, sunset }: Pick<Deprecation, "since" | "sunset">,
  { tag, method, path }: { readonly tag: string; readonly method: string; readonly path: string },
): Readonly<Record<"deprecation" | "sunset" | "link", string>> {
  const page = encodeURI(`/docs#tag/${tag.toLowerCase().replaceAll(" ", "-")}/${method}${path}`);
  return {
    deprecation: `@${startOf(since).getTime() / 1000}`,
    sunset: startOf(sunset).toUTCString(),
    link: `<${page}>; rel="deprecation"; type="text/html"`,
  };
}
