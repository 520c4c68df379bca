import type { InvocationSummary } from "@perch/sdk";
import { command, type Session } from "../command.ts";
import { anyAgentListOptions, commandLine, pageOfAgent, pageOfAllAgents } from "../list-options.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { printSteps } from "../output/print-steps.ts";
import { printEmpty, printMore, printNextPage, printTable } from "../output/table.ts";
import { coloured } from "../output/text.ts";
import { perchCommand } from "../perch-command.ts";
import { inPlainWords } from "../plain-words.ts";
import { showResult } from "./invoke.ts";

const rowOf = ({ terminal, time }: Session, run: InvocationSummary): string[] => [
  run.request_id,
  coloured(terminal, run.status),
  run.version ?? "draft",
  run.duration_ms === null ? "-" : `${run.duration_ms} ms`,
  String(run.tokens_used),
  time(run.created_at),
];
const titles = ["run", "status", "version", "duration", "tokens", "created"];

interface RunFilter {
  readonly status?: InvocationSummary["status"];
  readonly session_id?: string;
}

async function listOfAgent(session: Session, agent: string, query: RunFilter & { readonly offset?: number }) {
  const { perch, terminal, show, signal } = session;
  const found = await perch().runs.list(agent, query, { signal });
  show(found, () => {
    if (found.data.length === 0)
      return printEmpty(terminal, {
        what: "runs",
        narrowedBy: [query.status, query.session_id, query.offset],
        next: `Start one with \`${perchCommand(`invoke ${agent} "Hello"`)}\`.`,
      });
    printTable(
      terminal,
      titles,
      found.data.map((run) => rowOf(session, run)),
    );
    printMore(terminal, found.pagination, found.data.length);
  });
}

async function listOfAll(session: Session, query: RunFilter & { readonly cursor?: string }) {
  const { perch, terminal, show, signal } = session;
  const found = await perch().runs.listAll(query, { signal });
  const { next_cursor } = found.pagination;
  show(found, () => {
    if (found.data.length === 0 && next_cursor === null)
      return printEmpty(terminal, {
        what: "runs",
        narrowedBy: [query.status, query.session_id, query.cursor],
        next: `Start one with \`${perchCommand('invoke AGENT "Hello"')}\`.`,
      });
    const rows = found.data.map((run) => {
      const [id = "", ...rest] = rowOf(session, run);
      return [id, run.agent_name, ...rest];
    });
    printTable(terminal, ["run", "agent", ...titles.slice(1)], rows);
    const given = { "--status": query.status, "--session": query.session_id };
    printNextPage(terminal, next_cursor, commandLine("runs", given));
  });
}

const list = command({
  name: "runs list",
  summary: "List the runs of an agent, or of all agents, newest first.",
  args: ["agent?"],
  options: {
    ...anyAgentListOptions,
    status: {
      type: "string",
      choices: ["running", "completed", "failed", "cancelled"],
      help: "Only runs with this status.",
    },
    session: { type: "string", short: "s", value: "ID", help: "Only runs of this conversation." },
  },
  run: (session, { agent }, { status, session: session_id, ...page }) => {
    const filter = omitUndefined({ status, session_id });
    return agent === undefined
      ? listOfAll(session, { ...pageOfAllAgents("runs list", page), ...filter })
      : listOfAgent(session, agent, { ...pageOfAgent("runs list", page), ...filter });
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
