import type { Command } from "./command.ts";
import { agentCommands } from "./commands/agents.ts";
import { api } from "./commands/api.ts";
import { apply } from "./commands/apply.ts";
import { audit } from "./commands/audit.ts";
import { chat } from "./commands/chat.ts";
import { completion } from "./commands/completion.ts";
import { deploy } from "./commands/deploy.ts";
import { deploymentCommands, rollback } from "./commands/deployments.ts";
import { dev } from "./commands/dev.ts";
import { doctor } from "./commands/doctor.ts";
import { embedderInstall } from "./commands/embedder.ts";
import { env } from "./commands/env.ts";
import { init } from "./commands/init.ts";
import { invoke } from "./commands/invoke.ts";
import { keyCommands } from "./commands/keys.ts";
import { listen } from "./commands/listen.ts";
import { profileCommands } from "./commands/login.ts";
import { logs } from "./commands/logs.ts";
import { memoryCommands } from "./commands/memory.ts";
import { metrics } from "./commands/metrics.ts";
import { models } from "./commands/models.ts";
import { providerCommands } from "./commands/providers.ts";
import { runCommands } from "./commands/runs.ts";
import { secretCommands } from "./commands/secrets.ts";
import { webhookCommands } from "./commands/webhooks.ts";

/** Every command, in the order of the help: from nothing to an agent that answers, then the rest. */
export const commands: readonly Command[] = [
  dev,
  init,
  apply,
  invoke,
  chat,
  ...agentCommands,
  ...runCommands,
  deploy,
  rollback,
  ...deploymentCommands,
  logs,
  metrics,
  ...memoryCommands,
  embedderInstall,
  ...webhookCommands,
  listen,
  ...keyCommands,
  models,
  ...providerCommands,
  ...secretCommands,
  ...profileCommands,
  env,
  audit,
  api,
  doctor,
  completion(() => commands),
];
