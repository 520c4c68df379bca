import { formatCount, formatDuration } from "../../../parts/duration.ts";
import type { Turn } from "./turn.ts";

const signed = (difference: number, format: (amount: number) => string): string =>
  `${difference < 0 ? "−" : "+"}${format(Math.abs(difference))}`;

type Measured = Pick<Turn, "status" | "durationMs" | "tokens">;

/** The difference to the other run: `+120 ms, −30 tokens`. Undefined until both have ended. */
export function differenceText(turn: Measured, other: Measured): string | undefined {
  if (turn.status === "running" || other.status === "running") return undefined;
  const { durationMs, tokens } = turn;
  if (durationMs === null || tokens === null || other.durationMs === null || other.tokens === null) return undefined;
  const slower = signed(durationMs - other.durationMs, formatDuration);
  return `${slower}, ${signed(tokens - other.tokens, formatCount)} tokens`;
}
