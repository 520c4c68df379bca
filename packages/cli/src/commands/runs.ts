import type { InvocationSummary } from "@perch/sdk";
import { command, type Session } from "../command.ts";
import {
  anyAgentListOptions,
  type CursorPage,
  commandLine,
  pageOfAgent,
  pageOfAllAgents,
  pageOfNarrowedAgent,
} from "../list-options.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { parseSince } from "../output/duration.ts";
import { printSteps } from "../output/print-steps.ts";
import { printEmpty, printMore, printNextPage, printTable } from "../output/table.ts";
import { coloured } from "../output/text.ts";
import { perchCommand } from "../perch-command.ts";
import { inPlainWords } from "../plain-words.ts";
import { waitingText } from "../report-error.ts";
import { showResult, waitHelp, waitOption } from "./invoke.ts";

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
  readonly environment?: string;
  readonly start_time?: string;
  readonly end_time?: string;
}

/** What only the list of all agents can be narrowed by; `agent_id` makes it a list of one. */
interface WiderFilter extends RunFilter {
  readonly agent_id?: string;
  readonly user_id?: string;
  readonly version?: string;
}

const narrowing = (filter: object, page: string | number | undefined) => [
  ...Object.keys(filter).filter((name) => !["limit", "offset", "cursor"].includes(name)),
  page,
];

async function listOfAgent(session: Session, agent: string, query: RunFilter & { readonly offset?: number }) {
  const { perch, terminal, show, signal } = session;
  const found = await perch().runs.list(agent, query, { signal });
  show(found, () => {
    if (found.data.length === 0)
      return printEmpty(terminal, {
        what: "runs",
        narrowedBy: narrowing(query, query.offset),
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

/** Times as they were understood: `2h` is another time by then. */
const nextPageCommand = ({ agent_id, ...query }: WiderFilter & CursorPage): string =>
  commandLine(agent_id === undefined ? "runs" : `runs ${agent_id}`, {
    "--status": query.status,
    "--session": query.session_id,
    "--user": query.user_id,
    "--environment": query.environment,
    "--agent-version": query.version,
    "--since": query.start_time,
    "--until": query.end_time,
    "--limit": query.limit,
  });

async function listOfAll(session: Session, query: WiderFilter & CursorPage) {
  const { perch, terminal, show, signal } = session;
  const found = await perch().runs.listAll(query, { signal });
  const { next_cursor } = found.pagination;
  show(found, () => {
    if (found.data.length === 0 && next_cursor === null)
      return printEmpty(terminal, {
        what: "runs",
        narrowedBy: narrowing(query, query.cursor),
        next: `Start one with \`${perchCommand('invoke AGENT "Hello"')}\`.`,
      });
    const rows = found.data.map((run) => {
      const [id = "", ...rest] = rowOf(session, run);
      return [id, run.agent_name, ...rest];
    });
    printTable(terminal, ["run", "agent", ...titles.slice(1)], rows);
    printNextPage(terminal, next_cursor, nextPageCommand(query));
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
      choices: ["running", "waiting", "completed", "failed", "cancelled"],
      help: "Only runs with this status.",
    },
    session: { type: "string", short: "s", value: "ID", help: "Only runs of this conversation." },
    user: { type: "string", value: "ID", help: "Only runs of this user." },
    environment: { type: "string", value: "NAME", help: "Only runs of this environment." },
    "agent-version": { type: "string", value: "LABEL", help: "Only runs of this version, or of the draft: draft." },
    since: { type: "string", value: "TIME", help: "A duration such as 2h, or a time such as 2026-01-31T12:00:00Z." },
    until: { type: "string", value: "TIME", help: "Only runs before this: a duration ago, or a time." },
  },
  examples: ["perch runs --status failed --since 1h", "perch runs support --user ada --agent-version v2"],
  run: (session, { agent }, { limit, offset, cursor, since, until, ...options }) => {
    const page = omitUndefined({ limit, offset, cursor });
    const filter: RunFilter = omitUndefined({
      status: options.status,
      session_id: options.session,
      environment: options.environment,
      start_time: since === undefined ? undefined : parseSince("since", since),
      end_time: until === undefined ? undefined : parseSince("until", until),
    });
    const wider = omitUndefined({ user_id: options.user, version: options["agent-version"] });
    if (agent === undefined) return listOfAll(session, { ...pageOfAllAgents("runs list", page), ...filter, ...wider });
    if (Object.keys(wider).length === 0)
      return listOfAgent(session, agent, { ...pageOfAgent("runs list", page), ...filter });
    const cursorPage = pageOfNarrowedAgent("runs list", "--user and --agent-version", page);
    return listOfAll(session, { ...cursorPage, ...filter, ...wider, agent_id: agent });
  },
});

const get = command({
  name: "runs get",
  summary: "Show a run: message, response and every step.",
  details:
    "Steps show the inputs and outputs of models and tools as far as the agent's `logs` says: nothing (off), sizes (shapes) or all of it (full), cut for the terminal. --json has it whole.",
  args: ["agent", "run"],
  run: async ({ perch, terminal, show, signal }, { agent, run }) => {
    const client = perch();
    const found = await client.runs.get(agent, run, { signal });
    const steps = await client.runs.steps(agent, run, { limit: 100 }, { signal }).toArray();
    const open =
      found.status === "waiting" ? await client.approvals.list({ request_id: run, status: "open" }) : undefined;
    const approvalIds = open?.data.map(({ id }) => id) ?? [];
    show({ ...found, run_steps: steps }, () => {
      terminal.line(`${found.request_id}  ${coloured(terminal, found.status)}  ${found.duration_ms ?? "-"} ms`);
      terminal.line(`> ${found.message}`);
      if (found.response !== null) terminal.line(found.response);
      if (found.error !== null) terminal.line(terminal.style("red", inPlainWords(found.error)));
      printSteps(terminal, steps);
      if (found.status === "waiting") terminal.note(waitingText({ agent, runId: run, approvalIds }));
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
  details: `Ctrl-c does not stop the run. ${waitHelp}`,
  args: ["agent", "run"],
  options: { wait: waitOption },
  run: (session, { agent, run }, { wait: waitForDecision }) => {
    const options = omitUndefined({ signal: session.signal, waitForDecision });
    return showResult(session, { agent, stream: session.perch().runs.follow(agent, run, options) });
  },
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
