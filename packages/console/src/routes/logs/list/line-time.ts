const part = (value: number, digits = 2): string => String(value).padStart(digits, "0");
const monthAndDay = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });

/** `16:45:03.120` in local time; a line of another day shows its date. */
export function lineTime(at: Date, now: Date): string {
  const time = `${part(at.getHours())}:${part(at.getMinutes())}:${part(at.getSeconds())}`;
  return at.toDateString() === now.toDateString()
    ? `${time}.${part(at.getMilliseconds(), 3)}`
    : `${monthAndDay.format(at)} ${time}`;
}
