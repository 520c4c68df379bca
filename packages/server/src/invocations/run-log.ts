import type { LogLevel } from "@perch/contract";
import { storableText } from "../platform/storable-text.ts";
import type { LogLine, RunInput, RunOutcome } from "./run.ts";

export const levels = { debug: 0, info: 1, warn: 2, error: 3 } as const satisfies Record<LogLevel, number>;

const mostShown = 4096;

export const line = (
  atMs: number,
  level: LogLevel,
  message: string,
  metadata: Readonly<Record<string, unknown>> = {},
): LogLine => ({
  at: new Date(atMs).toISOString(),
  level: levels[level],
  message: storableText(message, 2000),
  metadata,
});

/** What was said is nobody's business but the agent's, unless its maker says otherwise. */
const said = ({ definition }: RunInput, words: Readonly<Record<string, string>>): Record<string, string> =>
  definition.logs?.messages
    ? Object.fromEntries(Object.entries(words).map(([name, text]) => [name, storableText(text, mostShown)]))
    : {};

const acceptedLine = (run: RunInput): LogLine =>
  line(run.acceptedAtMs, "info", "Run accepted", {
    type: "accepted",
    ...(run.userId !== null && { user_id: run.userId }),
    ...(run.sessionId !== null && { session_id: run.sessionId }),
    ...said(run, { message: run.message }),
  });

function endedLine(run: RunInput, outcome: RunOutcome, nowMs: number): LogLine {
  const { status, steps, tokensUsed, durationMs } = outcome;
  const metadata = { type: "ended", status, steps, tokens_used: tokensUsed, duration_ms: durationMs };
  if (outcome.status === "completed")
    return line(nowMs, "info", "Run completed", { ...metadata, ...said(run, { response: outcome.response }) });
  return line(nowMs, outcome.status === "failed" ? "error" : "warn", `Run ${status}: ${outcome.error}`, metadata);
}

/** A run of many steps has many lines: past these the middle is left out, and said to be. */
const firstLines = 200;
const lastLines = 100;

export function wholeLog(run: RunInput, lines: readonly LogLine[], outcome: RunOutcome, nowMs: number): LogLine[] {
  const missing = lines.slice(firstLines, -lastLines);
  const cut =
    missing[0] && line(Date.parse(missing[0].at), "warn", `${missing.length} lines are left out here`, { type: "cut" });
  const kept = cut ? [...lines.slice(0, firstLines), cut, ...lines.slice(-lastLines)] : lines;
  const all = [acceptedLine(run), ...kept, endedLine(run, outcome, nowMs)];
  // Every line says which version of the agent it tells of.
  const common = { environment: run.environment, version: run.version };
  return all.map((one) => ({ ...one, metadata: { ...one.metadata, ...common } }));
}
