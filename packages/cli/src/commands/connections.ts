import type { Connection } from "@perch/sdk";
import { command, type Session, yesOption } from "../command.ts";
import { type CursorPage, commandLine, listOptions, pageOfAllAgents, quoted } from "../list-options.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { printEmpty, printNextPage, printTable } from "../output/table.ts";
import { colouredName } from "../output/text.ts";
import { perchCommand } from "../perch-command.ts";

const statuses = ["pending", "active", "needs_reauth", "revoked"] as const;

const create = command({
  name: "connections create",
  summary: "Print a link with which a user connects an account with a tool of an agent.",
  details:
    "The link works once, within ten minutes, and replaces earlier ones. The user's browser returns to your application with a code, and the account is used only after you confirm that code. An account that is connected already works as before until then.",
  args: ["agent", "tool", "user"],
  options: {
    "return-url": {
      type: "string",
      value: "URL",
      help: "Where the browser returns to: one of the tool's return_urls. Default: the first.",
    },
    environment: {
      type: "string",
      value: "NAME",
      help: "Where the tool's definition is taken from. Default: production.",
    },
  },
  examples: ["perch connections create support mailbox customer-1042"],
  run: async ({ perch, terminal, show, signal, time }, { agent, tool, user }, { "return-url": url, environment }) => {
    const body = { user_id: user, tool, ...omitUndefined({ return_url: url, environment }) };
    const created = await perch().connections.create(agent, body, { signal });
    show(created, () => {
      const state = created.status === "pending" ? "" : `, now ${created.status}`;
      terminal.note(
        `Link for ${terminal.safe(user)} and ${terminal.safe(tool)} (${created.id}${state}). It works once, until ${time(created.link_expires_at)}:`,
      );
      // Only the link goes to standard output, so that a script can capture it.
      terminal.line(created.link);
    });
  },
});

const list = command({
  name: "connections list",
  summary: "List the accounts that users connected with an agent, newest first.",
  details: "Revoked connections are deleted after 30 days.",
  args: ["agent"],
  options: {
    limit: listOptions.limit,
    cursor: { type: "string", value: "CURSOR", help: "Where the page before ended." },
    user: { type: "string", value: "ID", help: "Only those of this user." },
    tool: { type: "string", value: "NAME", help: "Only those of this tool." },
    status: { type: "string", choices: statuses, help: "Only those with this status." },
    environment: { type: "string", value: "NAME", help: "Only those that runs in this environment use." },
  },
  examples: ["perch connections list support --status needs_reauth"],
  run: async (
    { perch, terminal, show, signal, time },
    { agent },
    { limit, cursor, user, tool, status, environment },
  ) => {
    const page: CursorPage = pageOfAllAgents("connections list", omitUndefined({ limit, cursor }));
    const query = { ...page, ...omitUndefined({ user_id: user, tool, status, environment }) };
    const found = await perch().connections.list(agent, query, { signal });
    const { next_cursor } = found.pagination;
    show(found, () => {
      if (found.data.length === 0 && next_cursor === null)
        return printEmpty(terminal, {
          what: "connections",
          narrowedBy: [cursor, user, tool, status, environment],
          next: `Get a link for a user with \`${perchCommand(`connections create ${agent} TOOL USER`)}\`.`,
        });
      const rows = found.data.map((one) => [
        one.id,
        colouredName(terminal, one.status),
        one.tool,
        one.user_id,
        time(one.connected_at),
        time(one.last_used_at),
      ]);
      const titles = ["connection", "status", "tool", "user", "connected", "last used"];
      printTable(terminal, titles, rows, { truncate: ["user"] });
      const narrowed = { "--user": user, "--tool": tool, "--status": status, "--environment": environment };
      const options = { ...narrowed, "--limit": limit };
      printNextPage(terminal, next_cursor, commandLine(`connections list ${agent}`, options));
    });
  },
});

const providerWords: Readonly<Record<NonNullable<Connection["provider_revocation"]>, string>> = {
  pending: "did not answer yet: it is asked again for a day",
  done: "has revoked it, too",
  not_offered: "offers no way to revoke it",
  failed: "could not be told within a day",
};

function printConnection({ terminal, time }: Pick<Session, "terminal" | "time">, connection: Connection): void {
  const { id, status, reason, tool, user_id, sent_to, issuer, scopes, provider_revocation: provider } = connection;
  terminal.line(`${terminal.style("bold", id)}  ${colouredName(terminal, status)}`);
  const row = (name: string, text: string | null) => {
    if (text !== null) terminal.line(`  ${name.padEnd(12)} ${terminal.safe(text)}`);
  };
  const timeRow = (name: string, at: string | null) => row(name, at === null ? null : time(at));
  row("why", reason);
  row("tool", tool);
  row("user", user_id);
  row("sent to", sent_to);
  row("issued by", issuer);
  row("scopes", scopes.length > 0 ? scopes.join(" ") : null);
  timeRow("created", connection.created_at);
  timeRow("connected", connection.connected_at);
  timeRow("last used", connection.last_used_at);
  timeRow("refreshed", connection.last_refreshed_at);
  timeRow("revoked", connection.revoked_at);
  row("provider", provider === null ? null : providerWords[provider]);
}

const show = command({
  name: "connections show",
  summary: "Show a connection: whose it is, what its tokens are for, and why it does not work.",
  args: ["agent", "connection"],
  run: async (session, { agent, connection: id }) => {
    const connection = await session.perch().connections.get(agent, id, { signal: session.signal });
    session.show(connection, () => {
      printConnection(session, connection);
      if (connection.status === "needs_reauth")
        session.terminal.note(
          `For a new link:\n  ${perchCommand(`connections create ${agent} ${connection.tool} ${quoted(connection.user_id)}`)}`,
        );
    });
  },
});

const confirm = command({
  name: "connections confirm",
  summary: "Confirm that a user has returned from the provider. Runs of this user use the account from then on.",
  details:
    "Your application does this, for the user who is signed in to it. With another user than the link was made for, it is refused, and the link is no longer valid. The code works once, for two minutes.",
  args: ["agent", "connection", "user", "code"],
  run: async ({ perch, terminal, show: print, signal }, { agent, connection: id, user, code }) => {
    const confirmed = await perch().connections.confirm(agent, id, { user_id: user, code }, { signal });
    print(confirmed, () => terminal.line(`${id} is ${confirmed.status}.`));
  },
});

const revoke = command({
  name: "connections revoke",
  summary: "Revoke a connection, at the provider too. No run uses the account any more.",
  args: ["agent", "connection"],
  options: { yes: yesOption },
  run: async ({ perch, terminal, show: print, signal }, { agent, connection: id }, { yes }) => {
    const client = perch();
    if (!(await terminal.confirm(`Revoke ${id}? The user would have to consent again.`, yes === true))) return;
    const revoked = await client.connections.revoke(agent, id, { signal });
    print(revoked, () => {
      const provider = revoked.provider_revocation;
      terminal.line(`${id} is revoked.${provider === null ? "" : ` The provider ${providerWords[provider]}.`}`);
    });
  },
});

export const connectionCommands = [create, list, show, confirm, revoke];
