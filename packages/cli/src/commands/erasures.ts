import { command, yesOption } from "../command.ts";
import { listOptions, pageOf } from "../list-options.ts";
import { printEmpty, printMore, printTable } from "../output/table.ts";
import { perchCommand } from "../perch-command.ts";

const erase = command({
  name: "users erase",
  summary: "Erase what is stored about one user, in all agents. Needs a key that may manage.",
  details:
    "Removes memories, sessions, logs, streams and the texts of runs, and cancels runs of the user that are under way. This cannot be undone. It goes on in the background.",
  args: ["user"],
  options: { yes: yesOption },
  examples: ["perch users erase customer-1042 --yes"],
  run: async ({ perch, terminal, show, signal }, { user }, { yes }) => {
    const client = perch();
    if (!(await terminal.confirm(`Erase all that is stored about the user ${user}?`, yes === true))) return;
    const erasure = await client.users.erase(user, { signal });
    show(erasure, () => {
      terminal.line(`${erasure.id} is ${erasure.status}.`);
      terminal.note(
        `Keep the id: an erasure does not say whose it was. \`${perchCommand(`erasures get ${erasure.id}`)}\` shows its receipt.`,
      );
    });
  },
});

const list = command({
  name: "erasures list",
  summary: "List erasures of users, newest first.",
  details: "An erasure does not name its user. It is stored for 400 days.",
  options: listOptions,
  run: async ({ perch, terminal, show, signal, time }, _, page) => {
    const found = await perch().erasures.list(pageOf(page), { signal });
    show(found, () => {
      if (found.data.length === 0)
        return printEmpty(terminal, {
          what: "erasures",
          narrowedBy: [page.offset],
          next: `Erase a user with \`${perchCommand("users erase")}\`.`,
        });
      const rows = found.data.map((one) => [one.id, one.status, time(one.created_at), time(one.completed_at)]);
      printTable(terminal, ["erasure", "status", "requested", "completed"], rows);
      printMore(terminal, found.pagination, found.data.length);
    });
  },
});

const get = command({
  name: "erasures get",
  summary: "Show an erasure and, when it has completed, its receipt.",
  args: ["id"],
  options: {},
  run: async ({ perch, terminal, show, signal, time }, { id }) => {
    const erasure = await perch().erasures.get(id, { signal });
    show(erasure, () => {
      const { receipt } = erasure;
      if (!receipt) return terminal.line(`${erasure.id} is running, since ${time(erasure.created_at)}.`);
      terminal.line(`${erasure.id} completed ${time(erasure.completed_at)}.`);
      const removed = receipt.removed.map((part) => [part.store, part.data, part.action, String(part.count)]);
      printTable(terminal, ["store", "data", "action", "count"], removed);
      for (const { store, data, expires } of receipt.expires)
        terminal.line(terminal.wrap(`Expires: ${data} (${store}), ${expires}.`, 2));
      for (const text of receipt.not_covered) terminal.line(terminal.wrap(`Not covered: ${text}`, 2));
    });
  },
});

export const erasureCommands = [erase, list, get];
