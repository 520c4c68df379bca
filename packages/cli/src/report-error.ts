import { ActionRequiredError, PerchError, RunFailedError } from "@perch/sdk";
import type { Connection } from "./connection.ts";
import { jsonText } from "./output/safe-text.ts";
import { perchCommand } from "./perch-command.ts";
import { inPlainWords, plainField } from "./plain-words.ts";
import { Interrupted, type NamedRun, Problem, RunProblem, UsageError } from "./problem.ts";
import type { Terminal } from "./terminal.ts";

/** What an error does not know itself. */
export interface ErrorContext {
  /** The server that was called. */
  readonly server?: Connection | undefined;
  /** The agent that was probably meant. */
  readonly suggestion?: string | undefined;
  /** What `perch help` explains of the command line. */
  readonly helpTopic?: string | undefined;
  /** The agent or webhook that the command line names. */
  readonly named?: { readonly agent?: string | undefined; readonly webhook?: string | undefined } | undefined;
}

/** A command between backticks. */
const quoted = (words: string): string => `\`${perchCommand(words)}\``;

/** What to do next, for codes that need no further context. */
const hints: Readonly<Record<string, () => string>> = {
  invalid_request: () => "Correct it, and run the command again.",
  unauthorized: () => `Run ${quoted("login")} with a valid key, or check PERCH_API_KEY.`,
  forbidden: () => `Use a key that may do this: ${quoted("keys create NAME --role ROLE")}.`,
  precondition_failed: () => "Somebody changed it meanwhile: look at it, and run the command again.",
  payload_too_large: () => "Send less at once.",
  rate_limited: () => "Wait as long as it says, then try again.",
  unavailable: () => `Try again in a moment; ${quoted("doctor")} looks at what is wrong.`,
  unknown: () => `${quoted("doctor")} looks at what is wrong.`,
};

/** The command that lists what was not found. Names in capitals are replaced by those that are known. */
const lists: Readonly<Record<string, string>> = {
  agent: "agents",
  invocation: "runs AGENT",
  deployment: "deployments AGENT",
  version: "versions AGENT",
  memory: "memory list AGENT",
  webhook: "webhooks",
  delivery: "webhooks deliveries WEBHOOK",
  key: "keys",
  provider: "providers",
  secret: "secrets",
  approval: "approvals",
  connection: "connections list AGENT",
};

/** Codes after which the run may go on, or may have begun, without this command. */
const lostSight: ReadonlySet<string> = new Set(["connection_failed", "timed_out", "unavailable", "still_running"]);

/** Whether the command has the option for a code of a second factor. */
const takesCode = ({ helpTopic }: ErrorContext): boolean => /^(approvals|keys begin-mfa)\b/.test(helpTopic ?? "");

/** Of refused decisions. The codes are those of any refused request, so the messages tell them apart. */
function decisionHint({ code, message }: PerchError, context: ErrorContext): string | undefined {
  if (code === "forbidden" && message.includes("needs the permission approve"))
    return `Use a key that may decide: ${quoted("keys create NAME --permission read --permission approve")}.`;
  if (code === "forbidden" && message.includes("You started this run"))
    return "Ask somebody else, or use another key with the permission approve.";
  if (!takesCode(context)) return undefined;
  if (/send a code in|^This code is wrong/.test(message)) return "Run the command again with --code CODE.";
  // These messages say themselves what to do.
  return /second factor|^Too many wrong codes/.test(message) ? "" : undefined;
}

const codeInHeader = /send a code in `X-MFA-Code`, or a step-up token/;
const messageOf = ({ shortMessage }: PerchError, context: ErrorContext): string =>
  inPlainWords(takesCode(context) ? shortMessage.replace(codeInHeader, "give a code with --code") : shortMessage);

function hintOf(error: PerchError, context: ErrorContext): string {
  const { server, suggestion, named } = context;
  const { code, correlationId, message } = error;
  if (error instanceof RunFailedError && code === "run_failed") {
    return error.retryable
      ? "A new run may succeed: invoke the agent again."
      : "A new run would fail in the same way: change the agent, or what it calls, first.";
  }
  if (code === "server_error")
    return `Give the ${correlationId === undefined ? "run's" : "correlation"} id to whoever runs the server.`;
  if (code === "not_found") {
    const list = lists[/^There is no (\w+) /.exec(message)?.[1] ?? ""]
      ?.replace("AGENT", () => named?.agent ?? "AGENT")
      .replace("WEBHOOK", () => named?.webhook ?? "WEBHOOK");
    const meant = suggestion === undefined ? "" : `Did you mean ${suggestion}? `;
    return list === undefined ? "" : `${meant}${quoted(list)} lists what there is.`;
  }
  if (code === "connection_failed" || code === "timed_out") {
    const question = server?.isDev ? `Does ${quoted("dev")} still run?` : "Is the server running?";
    return `${question} ${quoted("doctor")} looks at what is wrong.`;
  }
  return decisionHint(error, context) ?? ((Object.hasOwn(hints, code) && hints[code]?.()) || "");
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
  const command = (word: string) => `  ${perchCommand(`runs ${word} ${agent} ${runId}`)}`;
  if (isOver) return [`The steps of the run ${runId} show what happened:`, command("get")];
  return [
    `The run ${runId} goes on. To wait for its response, to see what it does, or to stop it:`,
    ...["follow", "get", "cancel"].map(command),
  ];
}

interface WaitingRun {
  readonly agent: string;
  readonly runId: string;
  readonly approvalIds: readonly string[];
}

/** What a run that waits for a person needs, and how it goes on. */
export function waitingText({ agent, runId, approvalIds }: WaitingRun): string {
  const decide = approvalIds.map((id) => `  ${perchCommand(`approvals show ${id}`)}`);
  return [
    ...(decide.length > 0 ? ["To see what it is about, and how to decide:", ...decide] : []),
    `The run ${runId} goes on ${decide.length > 0 ? "after the decision" : "when it is its turn"}. To wait for its response, or to stop it:`,
    `  ${perchCommand(`runs follow ${agent} ${runId} --wait`)}`,
    `  ${perchCommand(`runs cancel ${agent} ${runId}`)}`,
  ].join("\n");
}

function problemLines({ run, cause }: RunProblem, context: ErrorContext): string[] {
  if (cause instanceof ActionRequiredError)
    return [
      inPlainWords(cause.shortMessage.replaceAll(/ at \/v1\/approvals\/\w+/g, "")),
      waitingText({ ...cause, agent: run.agent }),
    ];
  const runId = (cause instanceof PerchError ? cause.runId : undefined) ?? run.runId;
  const isLost = cause instanceof PerchError && lostSight.has(cause.code);
  // A request that was refused has no run.
  const isAboutRun = runId !== undefined || isLost;
  return [...lines(cause, context), ...(isAboutRun ? runLines({ ...run, runId }, !isLost) : [])];
}

/** `(404 from http://127.0.0.1:7400, profile staging; correlation id corr_…)`. */
function originOf({ status, correlationId }: PerchError, { server }: ErrorContext): string {
  const address = server && `${server.url}, ${server.source}`;
  if (address === undefined && correlationId === undefined) return "";
  const answer = [status, address].filter(Boolean).join(" from ");
  return `(${[answer, correlationId && `correlation id ${correlationId}`].filter(Boolean).join("; ")})`;
}

function lines(error: unknown, context: ErrorContext): string[] {
  if (error instanceof PerchError) {
    const { details, code } = error;
    const cause = code === "connection_failed" && error.cause instanceof Error ? causeOf(error.cause) : "";
    return [
      messageOf(error, context) + cause,
      ...details
        .filter(({ field }) => field !== "request_id" && field !== "waiting_request_id" && field !== "approval_id")
        .map((detail) => `  ${plainField(detail.field)}: ${detail.error}`),
      hintOf(error, context),
      originOf(error, context),
    ];
  }
  if (error instanceof RunProblem) return problemLines(error, context);
  if (error instanceof Interrupted) return runLines(error.run, false);
  if (error instanceof Problem) return [error.message, error.hint ?? ""];
  if (error instanceof UsageError)
    return [
      error.message,
      context.helpTopic === undefined
        ? `${quoted("--help")} shows all commands, ${quoted("help <command>")} one of them.`
        : `${quoted(`help ${context.helpTopic}`)} shows the usage.`,
    ];
  return [error instanceof Error ? error.message : String(error)];
}

const causeOf = (cause: Error): string => {
  const inner = cause.cause instanceof Error ? cause.cause : cause;
  return ` (${"code" in inner ? String(inner.code) : inner.message})`;
};

export const errorText = (error: unknown, context: ErrorContext = {}): string =>
  lines(error, context).filter(Boolean).join("\n");

function asJson(error: unknown): unknown {
  const named = error instanceof RunProblem || error instanceof Interrupted ? error.run : undefined;
  const cause = error instanceof RunProblem ? error.cause : error;
  const run = { request_id: (cause instanceof PerchError ? cause.runId : undefined) ?? named?.runId };
  if (!(cause instanceof PerchError)) {
    const message = cause instanceof UsageError ? cause.message : errorText(error);
    return { error: { message, ...run } };
  }
  const { code, shortMessage: message, details, status, correlationId, retryAfterSeconds } = cause;
  const fields = { code, message, details, status, correlation_id: correlationId, retry_after: retryAfterSeconds };
  return { error: { ...fields, ...(cause instanceof RunFailedError && { retryable: cause.retryable }), ...run } };
}

export type ExitCode = 0 | 1 | 2 | 3 | 130 | 143;

function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof Interrupted) return error.exitCode;
  if (error instanceof RunProblem && error.cause instanceof ActionRequiredError) return 3;
  return error instanceof UsageError ? 2 : 1;
}

/** Prints what failed, and returns the exit code. */
export function reportError(error: unknown, terminal: Terminal, context: ErrorContext): ExitCode {
  const [first = "", ...rest] = errorText(error, context).split("\n");
  terminal.note([error instanceof Interrupted ? first : terminal.style("red", first), ...rest].join("\n"));
  return exitCodeOf(error);
}

export function reportErrorAsJson(error: unknown, terminal: Terminal): ExitCode {
  terminal.note(jsonText(asJson(error)));
  return exitCodeOf(error);
}
