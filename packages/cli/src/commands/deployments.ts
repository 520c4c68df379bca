import type { Deployment } from "@perch/sdk";
import { command, type Session } from "../command.ts";
import {
  anyAgentListOptions,
  type CursorPage,
  commandLine,
  listOptions,
  pageOf,
  pageOfAgent,
  pageOfAllAgents,
} from "../list-options.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { parseWhole } from "../output/duration.ts";
import { printEmpty, printMore, printNextPage, printTable } from "../output/table.ts";
import { coloured } from "../output/text.ts";
import { perchCommand } from "../perch-command.ts";
import { inPlainWords } from "../plain-words.ts";

const rowOf = ({ terminal, time }: Session, one: Deployment): string[] => [
  one.id,
  one.environment,
  one.version,
  coloured(terminal, one.status),
  `${one.traffic_percent} %`,
  time(one.created_at),
  inPlainWords(one.error ?? ""),
];
const titles = ["deployment", "environment", "version", "status", "share", "created", ""];

interface DeploymentFilter {
  readonly environment?: string;
  readonly status?: Deployment["status"];
}

async function listOfAgent(session: Session, agent: string, query: DeploymentFilter & { readonly offset?: number }) {
  const { perch, terminal, show, signal } = session;
  const found = await perch().deployments.list(agent, query, { signal });
  show(found, () => {
    if (found.data.length === 0)
      return printEmpty(terminal, {
        what: "deployments",
        narrowedBy: [query.environment, query.status, query.offset],
        next: `Create one with \`${perchCommand(`deploy ${agent}`)}\`.`,
      });
    printTable(
      terminal,
      titles,
      found.data.map((one) => rowOf(session, one)),
    );
    printMore(terminal, found.pagination, found.data.length);
  });
}

async function listOfAll(session: Session, query: DeploymentFilter & CursorPage) {
  const { perch, terminal, show, signal } = session;
  const found = await perch().deployments.listAll(query, { signal });
  const { next_cursor } = found.pagination;
  show(found, () => {
    if (found.data.length === 0 && next_cursor === null)
      return printEmpty(terminal, {
        what: "deployments",
        narrowedBy: [query.environment, query.status, query.cursor],
        next: `Create one with \`${perchCommand("deploy AGENT")}\`.`,
      });
    const rows = found.data.map((one) => {
      const [id = "", ...rest] = rowOf(session, one);
      return [id, one.agent_name, ...rest];
    });
    printTable(terminal, ["deployment", "agent", ...titles.slice(1)], rows);
    const given = { "--environment": query.environment, "--status": query.status, "--limit": query.limit };
    printNextPage(terminal, next_cursor, commandLine("deployments", given));
  });
}

const list = command({
  name: "deployments list",
  summary: "List the deployments of an agent, or of all agents, newest first.",
  args: ["agent?"],
  options: {
    ...anyAgentListOptions,
    environment: { type: "string", value: "NAME", help: "Only deployments of this environment." },
    status: {
      type: "string",
      choices: ["pending", "active", "failed", "superseded", "rolled-back"],
      help: "Only deployments with this status.",
    },
  },
  run: (session, { agent }, { environment, status: chosen, ...page }) => {
    const status = chosen === "rolled-back" ? ("rolled_back" as const) : chosen;
    const filter = omitUndefined({ environment, status });
    return agent === undefined
      ? listOfAll(session, { ...pageOfAllAgents("deployments list", page), ...filter })
      : listOfAgent(session, agent, { ...pageOfAgent("deployments list", page), ...filter });
  },
});

const promote = command({
  name: "deployments promote",
  summary: "Make a canary the live deployment.",
  args: ["agent", "deployment"],
  run: async ({ perch, terminal, show, signal }, { agent, deployment }) => {
    const changed = await perch().deployments.promote(agent, deployment, { signal });
    show(changed, () => terminal.line(`${changed.version} is live in ${changed.environment}.`));
  },
});

const abort = command({
  name: "deployments abort",
  summary: "Abort a canary: the live deployment gets all requests.",
  args: ["agent", "deployment"],
  run: async ({ perch, terminal, show, signal }, { agent, deployment }) => {
    const changed = await perch().deployments.abort(agent, deployment, { signal });
    show(changed, () => terminal.line(`${changed.version} gets no more requests.`));
  },
});

const traffic = command({
  name: "deployments traffic",
  summary: "Change the share of requests that a canary gets.",
  args: ["agent", "deployment", "percent"],
  run: async ({ perch, terminal, show, signal }, { agent, deployment, percent }) => {
    const body = { traffic_percent: parseWhole("percent", percent) };
    const changed = await perch().deployments.update(agent, deployment, body, { signal });
    show(changed, () => terminal.line(`${changed.version} gets ${changed.traffic_percent} %.`));
  },
});

const versions = command({
  name: "versions list",
  summary: "List an agent's versions.",
  args: ["agent"],
  options: listOptions,
  run: async ({ perch, terminal, show, signal, time }, { agent }, page) => {
    const found = await perch().versions.list(agent, pageOf(page), { signal });
    show(found, () => {
      if (found.data.length === 0)
        return printEmpty(terminal, {
          what: "versions",
          narrowedBy: [page.offset],
          next: `Create one with \`${perchCommand(`deploy ${agent}`)}\`.`,
        });
      const rows = found.data.map(({ version, checksum, created_at }) => [
        version,
        checksum.replace("sha256:", "").slice(0, 12),
        time(created_at),
      ]);
      printTable(terminal, ["version", "checksum", "created"], rows);
      printMore(terminal, found.pagination, found.data.length);
    });
  },
});

const diff = command({
  name: "versions diff",
  summary: "Show the changes from one version to another, or to the draft.",
  args: ["agent", "version", "to?"],
  run: async ({ perch, terminal, show, signal }, { agent, version, to }) => {
    const found = await perch().versions.diff(agent, version, omitUndefined({ to }), { signal });
    show(found, () => terminal.line(found.same ? "They are the same." : found.text.trimEnd()));
  },
});

export const deploymentCommands = [list, promote, abort, traffic, versions, diff];
