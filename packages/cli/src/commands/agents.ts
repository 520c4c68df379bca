import { stringify } from "yaml";
import { command, yesOption } from "../command.ts";
import { listOptions, pageOf } from "../list-options.ts";
import { printMore, printTable } from "../output/table.ts";
import { coloured, time } from "../output/text.ts";

const list = command({
  name: "agents",
  summary: "List agents.",
  options: {
    ...listOptions,
    sort: { type: "string", value: "FIELD", help: "created_at, updated_at or name; -name descends." },
  },
  run: async ({ perch, terminal, show, signal }, _, { sort, ...page }) => {
    const query = { ...pageOf(page), ...(sort !== undefined && { sort: sort as "name" }) };
    const found = await perch().agents.list(query, { signal });
    show(found, () => {
      if (found.data.length === 0) return terminal.note("No agent yet. perch init and perch apply make one.");
      const rows = found.data.map(({ name, status, id, created_at }) => [
        name,
        coloured(terminal, status),
        id,
        time(created_at),
      ]);
      printTable(terminal, ["name", "status", "id", "created"], rows);
      printMore(terminal, found.pagination, found.data.length);
    });
  },
});

const get = command({
  name: "agents get",
  summary: "Show an agent's definition, in the form of agent.yaml.",
  args: ["agent"],
  run: async ({ perch, terminal, show, signal }, { agent }) => {
    const found = await perch().agents.get(agent, { signal });
    const { id: _id, status: _status, created_at: _made, updated_at: _changed, ...definition } = found;
    show(found, () => terminal.write(stringify(definition)));
  },
});

const remove = command({
  name: "agents delete",
  summary: "Delete an agent. Keys that belong to it are revoked.",
  args: ["agent"],
  options: { yes: yesOption },
  run: async ({ perch, terminal, show, signal }, { agent }, { yes }) => {
    if (!(await terminal.confirm(`Delete the agent ${agent} for ever?`, yes === true))) return;
    const deleted = await perch().agents.delete(agent, { signal });
    show(deleted, () => terminal.line(`${agent} is gone.`));
  },
});

const pause = command({
  name: "agents pause",
  summary: "Let an agent refuse new invocations.",
  args: ["agent"],
  run: async ({ perch, terminal, show, signal }, { agent }) => {
    const changed = await perch().agents.pause(agent, { signal });
    show(changed, () => terminal.line(`${changed.name} is ${changed.status}.`));
  },
});

const resume = command({
  name: "agents resume",
  summary: "Let a paused agent take invocations again.",
  args: ["agent"],
  run: async ({ perch, terminal, show, signal }, { agent }) => {
    const changed = await perch().agents.resume(agent, { signal });
    show(changed, () => terminal.line(`${changed.name} is ${changed.status}.`));
  },
});

export const agentCommands = [list, get, remove, pause, resume];
