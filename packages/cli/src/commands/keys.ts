import type { CreatedApiKey } from "@perch/sdk";
import { command, type Session, yesOption } from "../command.ts";
import { listOptions, pageOf } from "../list-options.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { parseDuration } from "../output/duration.ts";
import { printEmpty, printMore, printTable } from "../output/table.ts";
import { coloured } from "../output/text.ts";
import { perchCommand } from "../perch-command.ts";

/** Only the key goes to standard output, so that a script can capture it. */
const showOnce = ({ terminal, show }: Session, created: CreatedApiKey, words: string): void =>
  show(created, () => {
    terminal.note(`${created.id} (${created.permissions.join(", ")}). ${words} Shown only once:`);
    terminal.line(created.key);
  });

const create = command({
  name: "keys create",
  summary: "Create an API key. It is shown only once.",
  args: ["name"],
  options: {
    role: { type: "string", choices: ["admin", "developer", "viewer"], help: "Role of the key. Default: developer." },
    permission: {
      type: "string",
      multiple: true,
      choices: ["read", "write", "delete", "manage", "approve", "invoke"],
      help: "Permission, instead of a role. Can be repeated. No role has approve or invoke.",
    },
    agent: { type: "string", value: "AGENT", help: "The only agent that the key can access. Default: all agents." },
    expires: { type: "string", value: "TIME", help: "Lifetime of the key, such as 90d. Default: no expiry." },
  },
  examples: [
    "perch keys create ci --role developer --expires 90d",
    "perch keys create app --permission invoke --agent bot",
  ],
  run: async (session, { name }, { role, permission, agent, expires }) => {
    const seconds = expires === undefined ? undefined : parseDuration("expires", expires);
    const rights = permission === undefined ? { role: role ?? ("developer" as const) } : omitUndefined({ role });
    const body = {
      name,
      ...rights,
      ...omitUndefined({
        permissions: permission as ("read" | "invoke")[] | undefined,
        agent_id: agent,
        expires_at: seconds === undefined ? undefined : new Date(Date.now() + seconds * 1000).toISOString(),
      }),
    };
    const created = await session.perch().keys.create(body, { signal: session.signal });
    showOnce(
      session,
      created,
      created.expires_at ? `It expires at ${session.time(created.expires_at)}.` : "It does not expire.",
    );
  },
});

const list = command({
  name: "keys list",
  summary: "List API keys.",
  options: {
    ...listOptions,
    agent: { type: "string", value: "AGENT", help: "Only keys of this agent." },
    status: { type: "string", choices: ["active", "expired", "revoked"], help: "Only keys with this status." },
  },
  run: async ({ perch, terminal, show, signal, time }, _, { agent, status, ...page }) => {
    const found = await perch().keys.list(
      { ...pageOf(page), ...omitUndefined({ agent_id: agent, status }) },
      { signal },
    );
    show(found, () => {
      if (found.data.length === 0)
        return printEmpty(terminal, {
          what: "keys",
          narrowedBy: [agent, status, page.offset],
          next: `Create one with \`${perchCommand("keys create NAME")}\`.`,
        });
      const rows = found.data.map((key) => [
        key.id,
        key.name,
        coloured(terminal, key.status),
        key.role ?? key.permissions.join(","),
        `${key.prefix}…`,
        time(key.last_used_at),
        time(key.expires_at),
      ]);
      printTable(terminal, ["id", "name", "status", "role", "begins", "last used", "expires"], rows, {
        truncate: ["name"],
      });
      printMore(terminal, found.pagination, found.data.length);
    });
  },
});

const rotate = command({
  name: "keys rotate",
  summary: "Replace a key with a new one that has the same permissions.",
  args: ["key"],
  options: {
    overlap: { type: "string", value: "TIME", help: "How long the old key keeps working, up to 7d. Default: 24h." },
  },
  examples: ["perch keys rotate key_01h455vb4pex5vsknk084sn02q --overlap 1h"],
  run: async (session, { key }, { overlap = "24h" }) => {
    const seconds = parseDuration("overlap", overlap);
    const created = await session.perch().keys.rotate(key, { overlap_seconds: seconds }, { signal: session.signal });
    showOnce(session, created, seconds === 0 ? "The old key is revoked." : `The old key works for another ${overlap}.`);
  },
});

const beginMfa = command({
  name: "keys begin-mfa",
  summary: "Print a token with which the holder of a key can enrol a second factor.",
  args: ["key"],
  options: {
    code: { type: "string", value: "CODE", help: "A code of your own second factor, if your key has one." },
  },
  examples: ["perch keys begin-mfa key_01h455vb4pex5vsknk084sn02q --code 123456"],
  run: async ({ perch, terminal, show, signal, time }, { key }, { code }) => {
    const headers = code === undefined ? {} : { "x-mfa-code": code };
    const begun = await perch().keys.beginMfa(key, { headers, signal });
    show(begun, () => {
      terminal.note(`Send this in X-MFA-Code with POST /v1/mfa, with that key, before ${time(begun.expires_at)}:`);
      terminal.line(begun.token);
    });
  },
});

const revoke = command({
  name: "keys revoke",
  summary: "Revoke a key immediately.",
  args: ["key"],
  options: { yes: yesOption },
  run: async ({ perch, terminal, show, signal }, { key }, { yes }) => {
    if (!(await terminal.confirm(`Revoke ${key} immediately? Clients that use it lose access.`, yes === true))) return;
    const revoked = await perch().keys.revoke(key, { signal });
    show(revoked, () => terminal.line(`${revoked.id} revoked.`));
  },
});

export const keyCommands = [create, list, rotate, beginMfa, revoke];
