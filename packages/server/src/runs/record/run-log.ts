import type { LogLevel } from "@perch/contract";
import type { RunInput, RunOutcome } from "../../engine/messages.ts";
import { storableJson, storableText } from "../../platform/storable-text.ts";
import { toStoredMetadata } from "../../resources/logs/stored-metadata.ts";
import type { LogLine } from "../run.ts";

export const levels = { debug: 0, info: 1, warn: 2, error: 3 } as const satisfies Record<LogLevel, number>;

export const logLine = (
  atMs: number,
  level: LogLevel,
  message: string,
  metadata: Readonly<Record<string, unknown>> = {},
): LogLine => ({
  at: new Date(atMs).toISOString(),
  level: levels[level],
  message: storableText(message, 2000),
  metadata: storableJson(metadata) as LogLine["metadata"],
});

const withVersion = ({ environment, version }: RunInput, line: LogLine): LogLine => ({
  ...line,
  metadata: { ...line.metadata, environment, version },
});

function endedLine(run: RunInput, outcome: RunOutcome, nowMs: number, caller: object = {}): LogLine {
  const { status, steps, tokensUsed, durationMs } = outcome;
  const accepted_at = new Date(run.acceptedAtMs).toISOString();
  const metadata = {
    type: "ended",
    status,
    steps,
    tokens_used: tokensUsed,
    duration_ms: durationMs,
    accepted_at,
    ...caller,
  };
  if (outcome.status === "completed") return logLine(nowMs, "info", "Run completed", metadata);
  return logLine(nowMs, outcome.status === "failed" ? "error" : "warn", `Run ${status}: ${outcome.error}`, metadata);
}

/** Only how the run ended, in our own words: nothing of it can be refused by the database. */
export const buildMinimalLog = (run: RunInput, outcome: RunOutcome, nowMs: number): LogLine[] => [
  withVersion(run, endedLine(run, outcome, nowMs)),
];

/** The middle of longer logs is replaced by a line that counts the omitted lines. */
const firstLines = 200;
const lastLines = 100;

function shortened(lines: readonly LogLine[]): readonly LogLine[] {
  const missing = lines.slice(firstLines, -lastLines);
  if (!missing[0]) return lines;
  const metadata = toStoredMetadata({ type: "truncated" });
  const mark = logLine(Date.parse(missing[0].at), "warn", `${missing.length} lines are left out here`, metadata);
  return [...lines.slice(0, firstLines), mark, ...lines.slice(-lastLines)];
}

const callerOf = ({ userId, sessionId }: RunInput) => ({
  ...(userId !== null && { user_id: userId }),
  ...(sessionId !== null && { session_id: sessionId }),
});

export function buildRunLog(run: RunInput, lines: readonly LogLine[], outcome: RunOutcome, nowMs: number): LogLine[] {
  const all = [...shortened(lines), endedLine(run, outcome, nowMs, callerOf(run))];
  return all.map((line) => withVersion(run, line));
}

/** The log of a run that waits: the rest is written when it waits again or ends. */
export const openRunLog = (run: RunInput, lines: readonly LogLine[]): LogLine[] =>
  shortened(lines).map((line) => withVersion(run, line));
