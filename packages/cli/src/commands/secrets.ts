import type { Secret } from "@perch/sdk";
import { command, type Session, yesOption } from "../command.ts";
import { listOptions, pageOf } from "../list-options.ts";
import { printEmpty, printMore, printTable } from "../output/table.ts";
import { perchCommand } from "../perch-command.ts";
import { Problem, UsageError } from "../problem.ts";
import { isSecretName, secretNameRule, setSecret } from "../set-secret.ts";

const noValueArgument =
  "perch secrets set: the value is not an argument: it would stay in the shell's history and show in the list of processes. Type it when asked, or pass it on standard input.";

function checkName(commandName: string, name: string): void {
  if (!isSecretName(name)) throw new UsageError(`perch ${commandName}: this is not a secret's name. ${secretNameRule}`);
}

function approvalOf(given: string): Secret["approval"] {
  if (given !== "required" && given !== "none")
    throw new UsageError("perch secrets set: --approval is required or none.");
  return given === "required" ? given : null;
}

/**
 * Asked for without echo, even if the result goes into a pipe. One line break at the end of standard input is not part
 * of the value.
 */
async function readValue({ terminal }: Session, name: string): Promise<string> {
  const value = terminal.isInputInteractive
    ? await terminal.secret(`Value of ${name}: `)
    : (await terminal.readAll()).replace(/\r?\n$/, "");
  if (value === "") throw new Problem("No value was given.", "Type it when asked, or pass it on standard input.");
  return value;
}

const list = command({
  name: "secrets list",
  summary: "List secrets, without their values.",
  options: {
    ...listOptions,
    agent: { type: "string", value: "AGENT", help: "The agent's own secrets. Default: the organisation's." },
  },
  run: async ({ perch, terminal, show, signal, time }, _, { agent, ...page }) => {
    const query = pageOf(page);
    const { secrets, agentSecrets } = perch();
    const found = await (agent ? agentSecrets.list(agent, query, { signal }) : secrets.list(query, { signal }));
    show(found, () => {
      if (found.data.length === 0)
        return printEmpty(terminal, {
          what: "secrets",
          narrowedBy: [page.offset],
          next: `Create one with \`${perchCommand("secrets set")}\`.`,
        });
      const rows = found.data.map((one) => [
        one.name,
        one.hosts.join(","),
        one.approval ?? "-",
        time(one.updated_at),
        time(one.last_used_at),
      ]);
      printTable(terminal, ["secret", "hosts", "approval", "updated", "last used"], rows, { truncate: ["hosts"] });
      printMore(terminal, found.pagination, found.data.length);
    });
  },
});

const set = command({
  name: "secrets set",
  summary: "Create a secret, or replace its value, which is asked for.",
  details:
    "The value is never an argument, so that it does not end up in the shell's history: type it when asked, or `perch secrets set NAME --host HOST < value.txt`.\nA secret is sent to its hosts alone: api.github.com stands for HTTPS and port 443, tools.example:8443 for another port, http://127.0.0.1:3000 for HTTP. For a secret that exists, --host replaces its hosts, and may be left out.\nTools, remote agents, providers and webhooks refer to it as {{secret.NAME}}.",
  args: ["name"],
  extraArgument: noValueArgument,
  options: {
    host: {
      type: "string",
      value: "HOST",
      multiple: true,
      help: "A host that the secret is sent to. Can be repeated.",
    },
    agent: { type: "string", value: "AGENT", help: "The only agent that can use it. Default: all agents." },
    approval: {
      type: "string",
      value: "required|none",
      help: "Whether a person approves every call that uses it, whatever a version of an agent says. A secret that exists keeps what it has.",
    },
  },
  examples: [
    "perch secrets set github_token --host api.github.com",
    "perch secrets set github_token --agent support < token.txt",
    "perch secrets set bank_key --host api.bank.example --approval required",
  ],
  run: async (session, { name }, { host: hosts, agent, approval: given }) => {
    checkName("secrets set", name);
    const approval = given === undefined ? undefined : approvalOf(given);
    const { perch, terminal, show, signal } = session;
    const client = perch();
    const value = await readValue(session, name);
    const { secret, outcome } = await setSecret(client, { name, agent }, { value, hosts, approval }, { signal });
    show({ ...secret, outcome }, () => {
      terminal.line(
        `${name} ${outcome}: {{secret.${name}}} is sent to ${secret.hosts.join(", ")}${secret.approval === "required" ? ", after a person has approved the call" : ""}.`,
      );
    });
  },
});

const remove = command({
  name: "secrets delete",
  summary: "Delete a secret. Calls that refer to it are refused from then on.",
  args: ["name"],
  options: {
    agent: { type: "string", value: "AGENT", help: "The agent whose own secret it is. Default: the organisation's." },
    yes: yesOption,
  },
  run: async ({ perch, terminal, show, signal }, { name }, { agent, yes }) => {
    checkName("secrets delete", name);
    const owner = agent ? `of the agent ${agent}` : "of the organisation";
    if (!(await terminal.confirm(`Delete the secret ${name} ${owner}?`, yes === true))) return;
    const { secrets, agentSecrets } = perch();
    const deleted = await (agent ? agentSecrets.delete(agent, name, { signal }) : secrets.delete(name, { signal }));
    show(deleted, () => terminal.line(`${name} deleted.`));
  },
});

export const secretCommands = [list, set, remove];
