import { command } from "../command.ts";
import { listOptions, pageOf } from "../list-options.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { printMore, printTable } from "../output/table.ts";
import { coloured, time } from "../output/text.ts";
import { printLogEntry } from "./logs.ts";

const list = command({
  name: "runs",
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
  run: async ({ perch, terminal, show, signal }, { agent }, { status, session, ...page }) => {
    const query = { ...pageOf(page), ...omitUndefined({ status, session_id: session }) };
    const found = await perch().invocations.list(agent, query, { signal });
    show(found, () => {
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
  summary: "Show a run: message, response and timeline.",
  args: ["agent", "run"],
  run: async ({ perch, terminal, show, signal }, { agent, run }) => {
    const found = await perch().invocations.get(agent, run, { signal });
    show(found, () => {
      terminal.line(`${found.request_id}  ${coloured(terminal, found.status)}  ${found.duration_ms ?? "-"} ms`);
      terminal.line(`> ${found.message}`);
      if (found.response !== null) terminal.line(found.response);
      if (found.error !== null) terminal.line(terminal.style("red", found.error));
      for (const entry of found.timeline) printLogEntry(terminal, entry);
    });
  },
});

const cancel = command({
  name: "runs cancel",
  summary: "Cancel a run. It stops before its next step.",
  args: ["agent", "run"],
  run: async ({ perch, terminal, show, signal }, { agent, run }) => {
    const found = await perch().invocations.cancel(agent, run, { signal });
    show(found, () => terminal.line(`${found.request_id} is ${found.status}.`));
  },
});

export const runCommands = [list, get, cancel];
