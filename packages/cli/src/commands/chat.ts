import { randomUUID } from "node:crypto";
import { ActionRequiredError } from "@perch/sdk";
import { askForDecision } from "../ask-for-decision.ts";
import { command } from "../command.ts";
import { didYouMean } from "../nearest.ts";
import type { ActionRequired } from "../output/print-run.ts";
import { jsonText } from "../output/safe-text.ts";
import { perchCommand } from "../perch-command.ts";
import { Interrupted, RunProblem } from "../problem.ts";
import { errorText } from "../report-error.ts";
import { watchRun } from "../run-outcome.ts";
import { contextOf, contextOptions } from "./invoke.ts";

const chatHelp =
  "Lines that the chat answers itself:\n  /exit     ends the chat, as ctrl-d does\n  /session  shows the session, and how to continue it later\n  /help     shows this\nTo send a line that begins with such a word, put a space before it.";
const chatWords = ["/exit", "/session", "/help"];

/** The `/word` that a line begins with. A path such as /etc/hosts is none. */
const commandIn = (text: string): string | undefined => /^(\/[\w-]*)(\s|$)/.exec(text)?.[1]?.toLowerCase();

function answerTo(word: string, { agent, session }: { readonly agent: string; readonly session: string }): string {
  if (word === "/help") return chatHelp;
  if (word === "/session")
    return `The session is ${session}. To continue it later:\n  ${perchCommand(`chat ${agent} --session ${session}`)}`;
  return `There is no ${word}, so nothing was sent.${didYouMean(word, chatWords)} /help shows what there is.`;
}

/** The session accepts no other message until the approver has decided. */
const waitsForPerson = (error: unknown): boolean =>
  error instanceof RunProblem && error.cause instanceof ActionRequiredError;

export const chat = command({
  name: "chat",
  summary: "Chat with an agent, in one session.",
  details: `Empty lines are ignored. --session continues an earlier conversation. --json prints one line per response. If the agent needs a person, the chat asks you, if your key may decide, or waits for another approver. Without a terminal it shows the open decision and ends with the exit code 3.\n${chatHelp}`,
  args: ["agent"],
  options: contextOptions,
  run: async (cli, { agent }, options) => {
    const { terminal, isJson, signal } = cli;
    const client = cli.perch();
    await client.agents.get(agent, { signal });
    const session = options.session ?? `chat-${randomUUID().slice(0, 8)}`;
    const context = { ...contextOf(options), session_id: session };
    const note = (text: string) => terminal.note(terminal.style("dim", text));
    note(`session ${session}; /help shows what you can type, /exit or ctrl-d ends it`);
    const questions = terminal.questions("> ");
    // If there is no terminal to ask on, a run that waits for a person ends the chat.
    const canAsk = terminal.isInteractive && !isJson;
    for await (const text of questions) {
      if (signal.aborted) return;
      if (text.trim() === "") continue;
      const word = commandIn(text);
      if (word === "/exit") return;
      if (word !== undefined) {
        note(answerTo(word, { agent, session }));
        continue;
      }
      const stream = client.agents.invokeStream(agent, { message: text, context }, { signal, waitForDecision: canAsk });
      const onActionRequired = canAsk
        ? (event: ActionRequired) => askForDecision({ session: cli, client, questions }, event)
        : undefined;
      try {
        const result = await watchRun(cli, { agent, stream, session, onActionRequired });
        if (isJson) terminal.line(jsonText(result));
      } catch (error) {
        if (error instanceof Interrupted || waitsForPerson(error)) throw error;
        // A failed answer does not end the conversation.
        terminal.note(terminal.style("red", errorText(error, { server: cli.connection() })));
      }
    }
  },
});
