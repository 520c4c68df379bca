import { UsageError } from "../problem.ts";

const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** `30s`, `15m`, `2h`, `7d` as seconds. */
export function parseDuration(option: string, text: string): number {
  const match = /^(\d{1,6})([smhd])$/.exec(text);
  const unit = seconds[match?.[2] ?? ""];
  if (!match || unit === undefined) throw new UsageError(`--${option} is a time such as 30s, 15m, 2h or 7d.`);
  return Number(match[1]) * unit;
}

/** A time, or how long ago: `2h` or `2026-01-31T12:00:00Z`. */
export function parseSince(option: string, text: string): string {
  if (/^\d{4}-/.test(text)) {
    const ms = Date.parse(text);
    if (Number.isNaN(ms)) throw new UsageError(`--${option}: ${text} is no time.`);
    return new Date(ms).toISOString();
  }
  return new Date(Date.now() - parseDuration(option, text) * 1000).toISOString();
}

export function parseWhole(option: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${option} is a whole number.`);
  return Number(text);
}
