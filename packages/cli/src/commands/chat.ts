import { randomUUID } from "node:crypto";
import { command } from "../command.ts";
import { jsonText } from "../output/safe-text.ts";
import { Interrupted } from "../problem.ts";
import { errorText } from "../report-error.ts";
import { watchRun } from "../run-outcome.ts";
import { contextOf, contextOptions } from "./invoke.ts";

export const chat = command({
  name: "chat",
  summary: "Chat with an agent, in one session.",
  details:
    "Empty lines are ignored; ctrl-d ends the chat. --session continues an earlier conversation. --json prints one line per response.",
  args: ["agent"],
  options: contextOptions,
  run: async (cli, { agent }, options) => {
    const { terminal, isJson, signal } = cli;
    const client = cli.perch();
    await client.agents.get(agent, { signal });
    const session = options.session ?? `chat-${randomUUID().slice(0, 8)}`;
    const context = { ...contextOf(options), session_id: session };
    terminal.note(terminal.style("dim", `session ${session}`));
    for await (const text of terminal.questions("> ")) {
      if (signal.aborted) return;
      if (text.trim() === "") continue;
      const stream = client.agents.invokeStream(agent, { message: text, context }, { signal });
      try {
        const result = await watchRun(cli, { agent, stream, session });
        if (isJson) terminal.line(jsonText(result));
      } catch (error) {
        if (error instanceof Interrupted) throw error;
        // A failed answer does not end the conversation.
        terminal.note(terminal.style("red", errorText(error)));
      }
    }
  },
});
