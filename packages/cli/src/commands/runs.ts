import { command } from "../command.ts";
import { listOptions, pageOf } from "../list-options.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { printSteps } from "../output/print-steps.ts";
import { printEmpty, printMore, printTable } from "../output/table.ts";
import { coloured } from "../output/text.ts";
import { perchCommand } from "../perch-command.ts";
import { inPlainWords } from "../plain-words.ts";
import { showResult } from "./invoke.ts";

const list = command({
  name: "runs list",
  summary: "List an agent's runs, newest first.",
  args: ["agent"],
  options: {
    ...listOptions,
    status: {
      type: "string",
      choices: ["running", "completed", "failed", "cancelled"],
      help: "Only runs with this status.",
    },
    session: { type: "string", short: "s", value: "ID", help: "Only runs of this conversation." },
  },
  run: async ({ perch, terminal, show, signal, time }, { agent }, { status, session, ...page }) => {
    const query = { ...pageOf(page), ...omitUndefined({ status, session_id: session }) };
    const found = await perch().runs.list(agent, query, { signal });
    show(found, () => {
      if (found.data.length === 0)
        return printEmpty(terminal, {
          what: "runs",
          narrowedBy: [status, session, page.offset],
          next: `Start one with \`${perchCommand(`invoke ${agent} "Hello"`)}\`.`,
        });
      const rows = found.data.map((run) => [
        run.request_id,
        coloured(terminal, run.status),
        run.version ?? "draft",
        run.duration_ms === null ? "-" : `${run.duration_ms} ms`,
        String(run.tokens_used),
        time(run.created_at),
      ]);
      printTable(terminal, ["run", "status", "version", "duration", "tokens", "created"], rows);
      printMore(terminal, found.pagination, found.data.length);
    });
  },
});

const get = command({
  name: "runs get",
  summary: "Show a run: message, response and every step.",
  details:
    "Steps show what models and tools were asked and said as far as the agent's `logs` says: nothing (off), sizes (shapes) or all of it (full), cut for the terminal. --json has it whole.",
  args: ["agent", "run"],
  run: async ({ perch, terminal, show, signal }, { agent, run }) => {
    const client = perch();
    const found = await client.runs.get(agent, run, { signal });
    const steps = await client.runs.steps(agent, run, { limit: 100 }, { signal }).toArray();
    show({ ...found, run_steps: steps }, () => {
      terminal.line(`${found.request_id}  ${coloured(terminal, found.status)}  ${found.duration_ms ?? "-"} ms`);
      terminal.line(`> ${found.message}`);
      if (found.response !== null) terminal.line(found.response);
      if (found.error !== null) terminal.line(terminal.style("red", inPlainWords(found.error)));
      printSteps(terminal, steps);
      if (found.status === "running")
        terminal.note(
          terminal.style(
            "dim",
            `It is still running. This shows what it does, and its response:\n  ${perchCommand(`runs follow ${agent} ${run}`)}`,
          ),
        );
    });
  },
});

const follow = command({
  name: "runs follow",
  summary: "Follow a run from its start, and print its response.",
  details: "Ctrl-c does not stop the run.",
  args: ["agent", "run"],
  run: (session, { agent, run }) =>
    showResult(session, { agent, stream: session.perch().runs.follow(agent, run, { signal: session.signal }) }),
});

const cancel = command({
  name: "runs cancel",
  summary: "Cancel a run. It stops before its next step.",
  args: ["agent", "run"],
  run: async ({ perch, terminal, show, signal }, { agent, run }) => {
    const found = await perch().runs.cancel(agent, run, { signal });
    show(found, () => terminal.line(`${found.request_id} is ${found.status}.`));
  },
});

export const runCommands = [list, get, follow, cancel];
