import { UsageError } from "../problem.ts";

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** `30s`, `15m`, `2h`, `7d` as seconds. */
function secondsOf(text: string): number | undefined {
  const match = /^(\d{1,6})([smhd])$/.exec(text);
  const unit = units[match?.[2] ?? ""];
  return match && unit !== undefined ? Number(match[1]) * unit : undefined;
}

export function parseDuration(option: string, text: string): number {
  const seconds = secondsOf(text);
  if (seconds === undefined) throw new UsageError(`--${option} is a time such as 30s, 15m, 2h or 7d.`);
  return seconds;
}

/** A time, or how long ago: `2h` or `2026-01-31T12:00:00Z`. */
export function parseSince(option: string, text: string): string {
  const seconds = secondsOf(text);
  const ms = seconds === undefined ? Date.parse(/^\d{4}-/.test(text) ? text : "") : Date.now() - seconds * 1000;
  if (Number.isNaN(ms))
    throw new UsageError(
      `--${option} is how long ago, such as 30s, 15m, 2h or 7d, or a time such as 2026-01-31T12:00:00Z.`,
    );
  return new Date(ms).toISOString();
}

export function parseWhole(option: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${option} is a whole number.`);
  return Number(text);
}
