/** Operations that were announced already, so that a loop that calls a deprecated operation does not fill a log. */
const announced = new Set<string>();

const dayOf = (ms: number): string | undefined =>
  Number.isNaN(ms) ? undefined : new Date(ms).toISOString().slice(0, 10);

/** `@1767225600` of RFC 9745. */
const sinceOf = (deprecation: string): string | undefined =>
  dayOf(Number(deprecation.match(/^@(\d{1,11})$/)?.[1] ?? Number.NaN) * 1000);

/** Warns of an operation that will go, once for each in a process. A warning never fails the call. */
export function warnIfDeprecated(method: string, url: string, headers: Headers): void {
  const deprecation = headers.get("deprecation");
  if (deprecation === null) return;
  // The link names the operation, whatever ids the path has.
  const link = headers.get("link")?.match(/<([^>]*)>[^,]*rel="?deprecation"?/)?.[1];
  const { origin, pathname } = new URL(url);
  const identity = link ?? `${method} ${pathname}`;
  if (announced.has(identity)) return;
  announced.add(identity);
  const since = sinceOf(deprecation);
  const sunset = dayOf(Date.parse(headers.get("sunset") ?? ""));
  const message = [
    `${method} ${pathname} is deprecated${since ? ` since ${since}` : ""}`,
    sunset && `, and gone from ${sunset} on`,
    `. What to use instead: ${link === undefined ? `${origin}/docs` : new URL(link, origin).href}`,
  ]
    .filter(Boolean)
    .join("");
  const { process } = globalThis as { process?: { emitWarning?: (message: string, options: object) => void } };
  if (process?.emitWarning) process.emitWarning(message, { type: "DeprecationWarning", code: "PERCH_DEPRECATED" });
  else console.warn(message);
}
