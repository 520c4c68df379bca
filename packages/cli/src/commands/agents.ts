import { stringify } from "yaml";
import { command, yesOption } from "../command.ts";
import { listOptions, pageOf } from "../list-options.ts";
import { printEmpty, printMore, printTable } from "../output/table.ts";
import { coloured } from "../output/text.ts";
import { perchCommand } from "../perch-command.ts";

/** The API's name of a field, which is accepted too. */
const sortField = (text: string) => text.replace(/^(-?)(created|updated)$/, "$1$2_at") as "name";

const list = command({
  name: "agents list",
  summary: "List agents.",
  options: {
    ...listOptions,
    sort: {
      type: "string",
      value: "FIELD",
      help: "created, updated or name; a leading - sorts in descending order.",
    },
  },
  run: async ({ perch, terminal, show, signal, time }, _, { sort, ...page }) => {
    const query = { ...pageOf(page), ...(sort !== undefined && { sort: sortField(sort) }) };
    const found = await perch().agents.list(query, { signal });
    show(found, () => {
      if (found.data.length === 0)
        return printEmpty(terminal, {
          what: "agents",
          narrowedBy: [page.offset],
          next: `Create one with \`${perchCommand("init")}\` and \`${perchCommand("apply")}\`.`,
        });
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
  summary: "Delete an agent. Its API keys are revoked.",
  args: ["agent"],
  options: { yes: yesOption },
  run: async ({ perch, terminal, show, signal }, { agent }, { yes }) => {
    if (!(await terminal.confirm(`Delete the agent ${agent} permanently?`, yes === true))) return;
    const deleted = await perch().agents.delete(agent, { signal });
    show(deleted, () => terminal.line(`${agent} deleted.`));
  },
});

const pause = command({
  name: "agents pause",
  summary: "Pause an agent: it rejects new runs.",
  args: ["agent"],
  run: async ({ perch, terminal, show, signal }, { agent }) => {
    const changed = await perch().agents.pause(agent, { signal });
    show(changed, () => terminal.line(`${changed.name} is ${changed.status}.`));
  },
});

const resume = command({
  name: "agents resume",
  summary: "Resume a paused agent.",
  args: ["agent"],
  run: async ({ perch, terminal, show, signal }, { agent }) => {
    const changed = await perch().agents.resume(agent, { signal });
    show(changed, () => terminal.line(`${changed.name} is ${changed.status}.`));
  },
});

export const agentCommands = [list, get, remove, pause, resume];
