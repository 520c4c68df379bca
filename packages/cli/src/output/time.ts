/** A time for people: `2026-01-31 13:00:00 CET`; `-` if there is none. */
export type FormatTime = (iso: string | null) => string;

/**
 * `CET` if the zone has such a name, else `UTC+5:30`. The names depend on the language: American English has no CET.
 */
function zoneNameOf(date: Date, timeZone: string | undefined): string {
  const names = ["en-US", "en-GB"].map((language) => {
    const format = new Intl.DateTimeFormat(language, { timeZone, timeZoneName: "short" });
    return format.formatToParts(date).find(({ type }) => type === "timeZoneName")?.value ?? "";
  });
  return names.find((name) => !/^GMT[+-]/.test(name)) ?? (names[0] ?? "").replace("GMT", "UTC");
}

/** Without a zone, that of this machine. */
export function createTimeFormat(timeZone?: string): FormatTime {
  const two = "2-digit";
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    hourCycle: "h23",
    ...{ year: "numeric", month: two, day: two, hour: two, minute: two, second: two },
  });
  return (iso) => {
    if (iso === null) return "-";
    const date = new Date(iso);
    if (Number.isNaN(date.getTime())) return iso;
    const parts = Object.fromEntries(format.formatToParts(date).map(({ type, value }) => [type, value]));
    const day = `${parts.year}-${parts.month}-${parts.day}`;
    return `${day} ${parts.hour}:${parts.minute}:${parts.second} ${zoneNameOf(date, timeZone)}`;
  };
}
