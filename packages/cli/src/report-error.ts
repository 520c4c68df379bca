import { PerchError } from "@perch/sdk";
import { jsonText } from "./output/safe-text.ts";
import { Problem, UsageError } from "./problem.ts";
import type { Terminal } from "./terminal.ts";

/** What to do next, for codes that need no further context. */
const hints: Readonly<Record<string, string>> = {
  unauthorized: "Run perch login with a valid key, or check PERCH_API_KEY.",
  forbidden: "Use a key that may do this: perch keys create --role.",
  rate_limited: "Wait as long as it says, then try again.",
  server_error: "Give the request id to whoever runs the server.",
  unavailable: "Try again in a moment; perch doctor looks at what is wrong.",
  connection_failed: "Is the server running? perch doctor looks at what is wrong.",
  timed_out: "Is the server running? perch doctor looks at what is wrong.",
};

function lines(error: unknown): string[] {
  if (error instanceof PerchError) {
    const { message, details, code, requestId, status } = error;
    const cause = code === "connection_failed" && error.cause instanceof Error ? causeOf(error.cause) : "";
    return [
      message + cause,
      ...details.filter(({ field }) => field !== "request_id").map((detail) => `  ${detail.field}: ${detail.error}`),
      hints[code] ?? "",
      requestId ? `(${status} ${code}, request ${requestId})` : "",
    ];
  }
  if (error instanceof Problem) return [error.message, error.hint ?? ""];
  return [error instanceof Error ? error.message : String(error)];
}

const causeOf = (cause: Error): string => {
  const inner = cause.cause instanceof Error ? cause.cause : cause;
  return ` (${"code" in inner ? String(inner.code) : inner.message})`;
};

export const errorText = (error: unknown): string => lines(error).filter(Boolean).join("\n");

function asJson(error: unknown): unknown {
  if (!(error instanceof PerchError)) return { error: { message: errorText(error) } };
  const { code, message, details, status, requestId, retryAfterSeconds } = error;
  return { error: { code, message, details, status, request_id: requestId, retry_after: retryAfterSeconds } };
}

/** Prints what failed, and returns the exit code. */
export function reportError(error: unknown, terminal: Terminal, isJson: boolean): 1 | 2 {
  const isUsage = error instanceof UsageError;
  if (isJson) terminal.note(jsonText(asJson(error)));
  else {
    const [first = "", ...rest] = lines(error).filter(Boolean);
    terminal.note([terminal.style("red", first), ...rest].join("\n"));
    if (isUsage) terminal.note("`perch --help` shows all commands, `perch <command> --help` one of them.");
  }
  return isUsage ? 2 : 1;
}
