import { PerchError, RunFailedError } from "@perch/sdk";
import { jsonText } from "./output/safe-text.ts";
import { Interrupted, type NamedRun, Problem, RunProblem, UsageError } from "./problem.ts";
import type { Terminal } from "./terminal.ts";

/** What to do next, for codes that need no further context. */
const hints: Readonly<Record<string, string>> = {
  unauthorized: "Run perch login with a valid key, or check PERCH_API_KEY.",
  forbidden: "Use a key that may do this: perch keys create --role.",
  rate_limited: "Wait as long as it says, then try again.",
  unavailable: "Try again in a moment; perch doctor looks at what is wrong.",
  connection_failed: "Is the server running? perch doctor looks at what is wrong.",
  timed_out: "Is the server running? perch doctor looks at what is wrong.",
};

/** Codes after which the run may go on, or may have begun, without this command. */
const lostSight: ReadonlySet<string> = new Set(["connection_failed", "timed_out", "unavailable", "still_running"]);

function hintOf(error: PerchError): string {
  const { code, correlationId } = error;
  if (error instanceof RunFailedError && code === "run_failed") {
    return error.retryable
      ? "A new run may succeed: invoke the agent again."
      : "A new run would fail in the same way: change the agent, or what it calls, first.";
  }
  if (code !== "server_error") return hints[code] ?? "";
  return `Give the ${correlationId === undefined ? "run's" : "correlation"} id to whoever runs the server.`;
}

/** What became of the run, and the next command. */
function runLines({ agent, runId, idempotencyKey }: NamedRun, isOver: boolean): string[] {
  if (runId === undefined) {
    if (idempotencyKey === undefined) return [];
    return [
      "Whether the run has begun is not known. To get its result, and not run twice, repeat the command with",
      `  --idempotency-key ${idempotencyKey}`,
    ];
  }
  if (isOver) return [`perch runs get ${agent} ${runId} shows what happened.`];
  return [
    `The run ${runId} goes on.`,
    `  perch runs follow ${agent} ${runId}  waits for its response`,
    `  perch runs get ${agent} ${runId}     shows it`,
    `  perch runs cancel ${agent} ${runId}  stops it`,
  ];
}

function problemLines({ run, cause }: RunProblem): string[] {
  const runId = (cause instanceof PerchError ? cause.runId : undefined) ?? run.runId;
  const isLost = cause instanceof PerchError && lostSight.has(cause.code);
  // A request that was refused has no run.
  const isAboutRun = runId !== undefined || isLost;
  return [...lines(cause), ...(isAboutRun ? runLines({ ...run, runId }, !isLost) : [])];
}

function lines(error: unknown): string[] {
  if (error instanceof PerchError) {
    const { message, details, code, correlationId, status } = error;
    const cause = code === "connection_failed" && error.cause instanceof Error ? causeOf(error.cause) : "";
    return [
      message + cause,
      ...details.filter(({ field }) => field !== "request_id").map((detail) => `  ${detail.field}: ${detail.error}`),
      hintOf(error),
      correlationId ? `(${status} ${code}, correlation id ${correlationId})` : "",
    ];
  }
  if (error instanceof RunProblem) return problemLines(error);
  if (error instanceof Interrupted) return runLines(error.run, false);
  if (error instanceof Problem) return [error.message, error.hint ?? ""];
  return [error instanceof Error ? error.message : String(error)];
}

const causeOf = (cause: Error): string => {
  const inner = cause.cause instanceof Error ? cause.cause : cause;
  return ` (${"code" in inner ? String(inner.code) : inner.message})`;
};

export const errorText = (error: unknown): string => lines(error).filter(Boolean).join("\n");

function asJson(error: unknown): unknown {
  const named = error instanceof RunProblem || error instanceof Interrupted ? error.run : undefined;
  const cause = error instanceof RunProblem ? error.cause : error;
  const run = { request_id: (cause instanceof PerchError ? cause.runId : undefined) ?? named?.runId };
  if (!(cause instanceof PerchError)) return { error: { message: errorText(error), ...run } };
  const { code, message, details, status, correlationId, retryAfterSeconds } = cause;
  const fields = { code, message, details, status, correlation_id: correlationId, retry_after: retryAfterSeconds };
  return { error: { ...fields, ...(cause instanceof RunFailedError && { retryable: cause.retryable }), ...run } };
}

export type ExitCode = 0 | 1 | 2 | 130 | 143;

/** Prints what failed, and returns the exit code. */
export function reportError(error: unknown, terminal: Terminal, isJson: boolean): ExitCode {
  const isUsage = error instanceof UsageError;
  const isInterrupted = error instanceof Interrupted;
  if (isJson) terminal.note(jsonText(asJson(error)));
  else {
    const [first = "", ...rest] = lines(error).filter(Boolean);
    terminal.note([isInterrupted ? first : terminal.style("red", first), ...rest].join("\n"));
    if (isUsage) terminal.note("`perch --help` shows all commands, `perch <command> --help` one of them.");
  }
  if (isInterrupted) return error.exitCode;
  return isUsage ? 2 : 1;
}
