import type { Command, CommandGroup } from "./command.ts";
import { agentCommands } from "./commands/agents.ts";
import { api } from "./commands/api.ts";
import { apply } from "./commands/apply.ts";
import { approvalCommands } from "./commands/approvals.ts";
import { audit } from "./commands/audit.ts";
import { chat } from "./commands/chat.ts";
import { completion } from "./commands/completion.ts";
import { connectionCommands } from "./commands/connections.ts";
import { console as openConsole, sessionCommands } from "./commands/console.ts";
import { deploy } from "./commands/deploy.ts";
import { deploymentCommands } from "./commands/deployments.ts";
import { dev } from "./commands/dev.ts";
import { doctor } from "./commands/doctor.ts";
import { embedderInstall } from "./commands/embedder.ts";
import { env } from "./commands/env.ts";
import { erasureCommands } from "./commands/erasures.ts";
import { init } from "./commands/init.ts";
import { invoke } from "./commands/invoke.ts";
import { keyCommands } from "./commands/keys.ts";
import { listen } from "./commands/listen.ts";
import { profileCommands } from "./commands/login.ts";
import { logs } from "./commands/logs.ts";
import { memoryCommands } from "./commands/memory.ts";
import { metrics } from "./commands/metrics.ts";
import { models } from "./commands/models.ts";
import { organisationCommands } from "./commands/organisation.ts";
import { providerCommands } from "./commands/providers.ts";
import { rollback } from "./commands/rollback.ts";
import { runCommands } from "./commands/runs.ts";
import { secretCommands } from "./commands/secrets.ts";
import { status } from "./commands/status.ts";
import { webhookCommands } from "./commands/webhooks.ts";

/** Every command, by task: from nothing to an agent that answers, then the rest. */
export const commandGroups: readonly CommandGroup[] = [
  { title: "Start here", commands: [dev, init, apply, openConsole, doctor] },
  {
    title: "Talk to agents",
    subjects: { runs: "Runs of agents", approvals: "What runs wait for" },
    commands: [invoke, chat, ...runCommands, ...approvalCommands],
  },
  {
    title: "Ship",
    subjects: { agents: "Agents", deployments: "Deployments of agents", versions: "An agent's versions" },
    commands: [deploy, rollback, ...agentCommands, ...deploymentCommands],
  },
  { title: "Watch", commands: [logs, metrics] },
  {
    title: "Remember",
    subjects: { memory: "An agent's memories", embedder: "The embedder of this machine" },
    commands: [...memoryCommands, embedderInstall],
  },
  {
    title: "Connect models, tools and receivers",
    subjects: {
      providers: "Model providers",
      secrets: "Secrets for tools",
      connections: "Accounts of users",
      webhooks: "Webhooks",
    },
    commands: [models, ...providerCommands, ...secretCommands, ...connectionCommands, ...webhookCommands, listen],
  },
  {
    title: "Administer",
    subjects: {
      keys: "API keys",
      sessions: "Sessions of browsers in the console",
      profiles: "Saved servers and their keys",
      organisation: "The organisation of your key",
      users: "Users of agents",
      erasures: "Erasures of users",
    },
    commands: [
      ...[...profileCommands, env, ...keyCommands, ...sessionCommands, ...organisationCommands],
      ...[audit, ...erasureCommands, status],
    ],
  },
  { title: "Anything else", commands: [api, completion(() => commands)] },
];

export const commands: readonly Command[] = commandGroups.flatMap((group) => group.commands);
