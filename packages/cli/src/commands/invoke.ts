import { command, type Session } from "../command.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { perchCommand } from "../perch-command.ts";
import { UsageError } from "../problem.ts";
import { newIdempotencyKey, type WatchedRun, watchRun } from "../run-outcome.ts";

export const contextOptions = {
  session: { type: "string", short: "s", value: "ID", help: "Id of the conversation." },
  user: { type: "string", value: "ID", help: "Id of the user that the agent talks to." },
  environment: {
    type: "string",
    value: "NAME",
    help: "The environment. Default: production; with `perch dev`, the draft.",
  },
  "agent-version": { type: "string", value: "LABEL", help: "Run this version instead of the deployed one." },
  draft: { type: "boolean", help: "Run the draft instead of what is deployed: the same as --agent-version draft." },
} as const;

/** A run can wait for days, so the command does not wait by default. */
export const waitOption = {
  type: "boolean",
  help: "Wait while the run waits for a person, and go on after the decision.",
} as const;
export const waitHelp =
  "Where the run waits for a person, the command says what to decide and ends with the exit code 3; with --wait, it waits too.";

interface ContextValues {
  readonly session?: string;
  readonly user?: string;
  readonly environment?: string;
  readonly "agent-version"?: string;
  readonly draft?: boolean;
}

export function contextOf({ session, user, environment, "agent-version": label, draft: isDraft }: ContextValues) {
  if (isDraft && label !== undefined) throw new UsageError("Give either --draft or --agent-version.");
  return omitUndefined({ session_id: session, user_id: user, environment, version: isDraft ? "draft" : label });
}

async function readMessage({ terminal }: Session, words: readonly string[]): Promise<string> {
  const argument = words.join(" ");
  if (argument !== "" && argument !== "-") return argument;
  if (terminal.isInteractive && argument === "") throw new UsageError("perch invoke: the message is missing.");
  const text = (await terminal.readAll()).trimEnd();
  if (text === "") throw new UsageError("perch invoke: the message is empty.");
  return text;
}

export async function showResult(session: Session, run: WatchedRun): Promise<void> {
  const { terminal, show } = session;
  const result = await watchRun(session, run);
  show(result, () =>
    terminal.note(
      terminal.style("dim", `${result.tokens_used} tokens, ${result.duration_ms} ms, ${result.request_id}`),
    ),
  );
}

export const invoke = command({
  name: "invoke",
  summary: "Send a message to an agent and stream its response.",
  details: `Without a message, or with -, the message is read from standard input. While the agent works, standard error shows what it does and what it waits for. Ctrl-c does not stop the run.\n${waitHelp}`,
  args: ["agent", "message..."],
  options: {
    ...contextOptions,
    wait: waitOption,
    async: { type: "boolean", help: "Do not wait: print the id of the run and exit." },
    "idempotency-key": {
      type: "string",
      value: "KEY",
      help: "Repeating the command with the same key within 24 hours returns the same response.",
    },
  },
  examples: ['perch invoke support "Where is order 42?"', "perch invoke support --session ada-1 < question.txt"],
  run: async (
    session,
    { agent, message: words },
    { async: isAsync, wait: waitForDecision, "idempotency-key": idempotencyKey = newIdempotencyKey(), ...context },
  ) => {
    const { perch, terminal, show, signal } = session;
    const message = await readMessage(session, words);
    const fields = contextOf(context);
    const body = { message, ...(Object.keys(fields).length > 0 && { context: fields }) };
    const options = { signal, idempotencyKey };
    if (!isAsync) {
      const stream = perch().agents.invokeStream(agent, body, { ...options, ...omitUndefined({ waitForDecision }) });
      return showResult(session, { agent, stream, session: context.session, idempotencyKey });
    }
    const run = await perch().agents.invokeInBackground(agent, body, options);
    show(run, () => {
      terminal.line(run.request_id);
      terminal.note(
        terminal.style("dim", `${perchCommand(`runs follow ${agent} ${run.request_id}`)} waits for its response.`),
      );
    });
  },
});
