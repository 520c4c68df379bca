import type { WebhookWithSecret } from "@perch/sdk";
import { command, type Session, yesOption } from "../command.ts";
import { listOptions, pageOf } from "../list-options.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { parseDuration } from "../output/duration.ts";
import { printEmpty, printMore, printTable } from "../output/table.ts";
import { coloured } from "../output/text.ts";
import { perchCommand } from "../perch-command.ts";
import { UsageError } from "../problem.ts";

export const eventNames = [
  "agent.completed",
  "agent.failed",
  "deployment.activated",
  "deployment.failed",
  "deployment.rolled_back",
  "agent.action_required",
  "connection.needs_reauth",
] as const;
type EventName = (typeof eventNames)[number];

const showOnce = ({ terminal, show }: Session, created: WebhookWithSecret): void =>
  show(created, () => {
    terminal.note(`${created.id} for ${created.events.join(", ")} at ${created.url}. Signing secret, shown only once:`);
    terminal.line(created.secret);
  });

const list = command({
  name: "webhooks list",
  summary: "List webhooks.",
  options: { ...listOptions, agent: { type: "string", value: "AGENT", help: "Only webhooks of this agent." } },
  run: async ({ perch, terminal, show, signal }, _, { agent, ...page }) => {
    const found = await perch().webhooks.list({ ...pageOf(page), ...omitUndefined({ agent_id: agent }) }, { signal });
    show(found, () => {
      if (found.data.length === 0)
        return printEmpty(terminal, {
          what: "webhooks",
          narrowedBy: [agent, page.offset],
          next: `Create one with \`${perchCommand("webhooks create")}\`.`,
        });
      const rows = found.data.map((one) => [
        one.id,
        coloured(terminal, one.status),
        one.url,
        one.events.join(","),
        one.agent_id ?? "all agents",
        one.disabled_reason ?? "",
      ]);
      printTable(terminal, ["webhook", "status", "url", "events", "for", ""], rows, { truncate: ["url", "events"] });
      printMore(terminal, found.pagination, found.data.length);
    });
  },
});

/** Repeats none of them in an error, because the user may have written a value. */
function headersOf(texts: readonly string[]): Record<string, string> {
  const pairs = texts.map((text) => /^([^:\s]+):\s*(.*)$/.exec(text));
  if (pairs.some((pair) => !pair)) throw new UsageError("perch webhooks create: --header is 'NAME: TEXT'.");
  return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? "", pair?.[2]?.trim() ?? ""]));
}

const create = command({
  name: "webhooks create",
  summary: "Create a webhook that sends events to a URL.",
  args: ["url"],
  options: {
    event: { type: "string", multiple: true, choices: eventNames, help: "Event to send. Required; can be repeated." },
    agent: { type: "string", value: "AGENT", help: "Only events of this agent." },
    "approval-links": {
      type: "boolean",
      help: "Deliver links that allow their recipient to decide on approvals. Needs manage.",
    },
    header: {
      type: "string",
      value: "'NAME: TEXT'",
      multiple: true,
      help: "Header of every delivery; the text may refer to secrets as {{secret.NAME}}. Can be repeated.",
    },
  },
  examples: [
    "perch webhooks create https://hooks.example.com/perch --event agent.failed",
    "perch webhooks create https://hooks.example.com/in --event agent.failed \\\n    --header 'Authorization: Bearer {{secret.hooks}}'",
  ],
  run: async (session, { url }, { event, agent, header, "approval-links": approval_links }) => {
    if (!event) throw new UsageError(`perch webhooks create: --event is missing: ${eventNames.join(", ")}.`);
    const headers = header && headersOf(header);
    const body = { url, events: event as EventName[], ...omitUndefined({ agent_id: agent, headers, approval_links }) };
    showOnce(session, await session.perch().webhooks.create(body, { signal: session.signal }));
  },
});

const remove = command({
  name: "webhooks delete",
  summary: "Delete a webhook, its pending deliveries and its delivery log.",
  args: ["webhook"],
  options: { yes: yesOption },
  run: async ({ perch, terminal, show, signal }, { webhook }, { yes }) => {
    if (!(await terminal.confirm(`Delete ${webhook} with all its deliveries?`, yes === true))) return;
    const deleted = await perch().webhooks.delete(webhook, { signal });
    show(deleted, () => terminal.line(`${webhook} deleted.`));
  },
});

const rotate = command({
  name: "webhooks rotate",
  summary: "Replace a webhook's signing secret. The old one signs too for a while.",
  args: ["webhook"],
  options: {
    overlap: { type: "string", value: "TIME", help: "How long the old secret signs too, up to 7d. Default: 24h." },
  },
  run: async (session, { webhook }, { overlap = "24h" }) => {
    const body = { overlap_seconds: parseDuration("overlap", overlap) };
    showOnce(session, await session.perch().webhooks.rotateSecret(webhook, body, { signal: session.signal }));
  },
});

const test = command({
  name: "webhooks test",
  summary: "Send a test event to a webhook.",
  args: ["webhook"],
  run: async ({ perch, terminal, show, signal }, { webhook }) => {
    const delivery = await perch().webhooks.test(webhook, { signal });
    show(delivery, () => {
      terminal.line(`${delivery.id} is queued. This shows what becomes of it:`);
      terminal.line(`  ${perchCommand(`webhooks deliveries ${webhook}`)}`);
    });
  },
});

const deliveries = command({
  name: "webhooks deliveries",
  summary: "List deliveries to a webhook, newest first.",
  args: ["webhook"],
  options: {
    ...listOptions,
    status: {
      type: "string",
      choices: ["pending", "delivered", "failed", "cancelled"],
      help: "Only deliveries with this status.",
    },
  },
  run: async ({ perch, terminal, show, signal, time }, { webhook }, { status, ...page }) => {
    const found = await perch().deliveries.list(webhook, { ...pageOf(page), ...omitUndefined({ status }) }, { signal });
    show(found, () => {
      if (found.data.length === 0)
        return printEmpty(terminal, {
          what: "deliveries",
          narrowedBy: [status, page.offset],
          next: `\`${perchCommand(`webhooks test ${webhook}`)}\` sends one.`,
        });
      const rows = found.data.map((one) => [
        one.id,
        one.event_type,
        coloured(terminal, one.status),
        String(one.attempts),
        one.status_code === null ? "-" : String(one.status_code),
        time(one.created_at),
        one.error ?? "",
      ]);
      printTable(terminal, ["delivery", "event", "status", "attempts", "response", "created", ""], rows);
      printMore(terminal, found.pagination, found.data.length);
    });
  },
});

export const webhookCommands = [list, create, remove, rotate, test, deliveries];
