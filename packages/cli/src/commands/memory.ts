import { setTimeout as sleep } from "node:timers/promises";
import { command, yesOption } from "../command.ts";
import { listOptions, pageOf } from "../list-options.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { parseSince } from "../output/duration.ts";
import { printEmpty, printMore, printTable } from "../output/table.ts";
import { perchCommand } from "../perch-command.ts";
import { UsageError } from "../problem.ts";

const owner = {
  user: { type: "string", value: "ID", help: "Only memories of this user." },
  session: { type: "string", short: "s", value: "ID", help: "Only memories of this session." },
} as const;

const search = command({
  name: "memory search",
  summary: "Search an agent's memories by meaning and by words.",
  args: ["agent", "query..."],
  options: {
    limit: { type: "string", short: "n", value: "N", help: "Maximum number of results, up to 100. Default: 10." },
    offset: { type: "string", value: "N", help: "Number of results to skip. A search has at most 200." },
    mode: {
      type: "string",
      choices: ["hybrid", "vector", "text"],
      help: "vector searches by meaning, text by words, hybrid by both. Default: hybrid.",
    },
    ...owner,
  },
  run: async ({ perch, terminal, show, signal }, { agent, query }, { mode, user, session, ...page }) => {
    if (query.length === 0) throw new UsageError("perch memory search: the query is missing.");
    const filters = { ...pageOf(page), ...omitUndefined({ mode, user_id: user, session_id: session }) };
    const found = await perch().memory.search(agent, { query: query.join(" "), ...filters }, { signal });
    show(found, () => {
      if (found.search.notice) terminal.note(terminal.style("dim", found.search.notice));
      if (found.data.length === 0) return terminal.note("Nothing found.");
      const rows = found.data.map(({ score, content, user_id, id }) => [score.toFixed(3), content, user_id ?? "-", id]);
      printTable(terminal, ["score", "content", "user", "id"], rows, { truncate: ["content", "user"] });
      printMore(terminal, found.pagination, found.data.length);
    });
  },
});

const add = command({
  name: "memory add",
  summary: "Add a memory to an agent.",
  args: ["agent", "content..."],
  options: {
    user: {
      type: "string",
      value: "ID",
      help: "User that the memory belongs to. Default: none; all users' runs can recall it.",
    },
    session: { type: "string", short: "s", value: "ID", help: "Session that the memory belongs to." },
  },
  run: async ({ perch, terminal, show, signal }, { agent, content }, { user, session }) => {
    if (content.length === 0) throw new UsageError("perch memory add: the content is missing.");
    const body = { content: content.join(" "), ...omitUndefined({ user_id: user, session_id: session }) };
    const created = await perch().memory.add(agent, body, { signal });
    show(created, () => terminal.line(created.id));
  },
});

const list = command({
  name: "memory list",
  summary: "List an agent's memories, most recently stored first.",
  args: ["agent"],
  options: { ...listOptions, ...owner },
  run: async ({ perch, terminal, show, signal, time }, { agent }, { user, session, ...page }) => {
    const query = { ...pageOf(page), ...omitUndefined({ user_id: user, session_id: session }) };
    const found = await perch().memory.list(agent, query, { signal });
    show(found, () => {
      if (found.data.length === 0)
        return printEmpty(terminal, {
          what: "memories",
          narrowedBy: [user, session, page.offset],
          next: `Add one with \`${perchCommand(`memory add ${agent} "…"`)}\`.`,
        });
      const rows = found.data.map(({ id, content, user_id, updated_at }) => [
        content,
        user_id ?? "-",
        id,
        time(updated_at),
      ]);
      printTable(terminal, ["content", "user", "id", "stored"], rows, { truncate: ["content", "user"] });
      printMore(terminal, found.pagination, found.data.length);
    });
  },
});

const clear = command({
  name: "memory clear",
  summary: "Delete an agent's memories and session messages.",
  args: ["agent"],
  options: {
    ...owner,
    before: { type: "string", value: "TIME", help: "Only those stored before: a duration such as 30d, or a time." },
    yes: yesOption,
  },
  run: async ({ perch, terminal, show, signal }, { agent }, { user, session, before, yes }) => {
    const scope = omitUndefined({
      user_id: user,
      session_id: session,
      before: before === undefined ? undefined : parseSince("before", before),
    });
    const what = Object.keys(scope).length === 0 ? "everything" : "that part of what";
    if (!(await terminal.confirm(`Remove ${what} ${agent} remembers?`, yes === true))) return;
    const client = perch();
    let cleared = await client.memory.clear(agent, scope, { signal });
    // The memories are hidden already; wait only to report the count.
    while (cleared.status === "running") {
      await sleep(500, undefined, { signal });
      cleared = await client.memory.getClear(agent, cleared.id, { signal });
    }
    show(cleared, () =>
      terminal.line(`${cleared.memories_deleted} memories and ${cleared.messages_deleted} messages removed.`),
    );
  },
});

export const memoryCommands = [search, add, list, clear];
