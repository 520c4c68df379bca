import {
  type AgentDefinition,
  type AgentDefinitionPatch,
  type AgentStatus,
  agentDefaults,
  remoteModel,
  type SecuritySettings,
} from "@perch/contract";
import { missing } from "../platform/api-error.ts";

/** As stored: `security` apart, because versions and rollbacks must never touch it. */
export interface StoredDefinition {
  readonly definition: Omit<AgentDefinition, "security">;
  readonly security: SecuritySettings;
}

/** The states of an agent and what leads from one to the other. ARCHITECTURE.md shows the same table as a picture. */
export const agentTransitions = {
  pause: { from: "running", to: "paused" },
  resume: { from: "paused", to: "running" },
} as const satisfies Record<string, { from: AgentStatus; to: AgentStatus }>;

const present = <T extends object>(fields: T): Partial<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;

/** undefined keeps, null restores the default, an object merges field by field. */
const merged = <T extends object>(current: T, change: object | null | undefined, fallback: T): T =>
  change === null ? fallback : { ...current, ...present(change ?? {}) };

const replaced = <T>(current: T, change: T | null | undefined, fallback: T): T =>
  change === undefined ? current : (change ?? fallback);

/** Blocks of `security` are given whole; a null block goes away. */
const withoutNulls = (settings: object): SecuritySettings =>
  Object.fromEntries(Object.entries(settings).filter(([, block]) => block !== null));

export function applyPatch({ definition, security }: StoredDefinition, patch: AgentDefinitionPatch): StoredDefinition {
  const next = {
    definition: {
      model: patch.model ?? definition.model,
      temperature: replaced(definition.temperature, patch.temperature, agentDefaults.temperature),
      instructions: replaced(definition.instructions, patch.instructions, agentDefaults.instructions),
      tools: replaced(definition.tools, patch.tools, agentDefaults.tools),
      memory: merged({ ...agentDefaults.memory, ...definition.memory }, patch.memory, agentDefaults.memory),
      limits: merged(definition.limits, patch.limits, agentDefaults.limits),
      // Absent in a definition that is older than it.
      logs: merged(definition.logs ?? agentDefaults.logs, patch.logs, agentDefaults.logs),
      fallback_models: replaced(definition.fallback_models, patch.fallback_models, agentDefaults.fallback_models),
      runtime: replaced<AgentDefinition["runtime"]>(definition.runtime, patch.runtime, { type: "model" }),
    },
    security: withoutNulls(merged<object>(security, patch.security, agentDefaults.security)),
  };
  // Only a remote agent can do without a model, and it stops being one when its runtime is taken away.
  if (next.definition.model === remoteModel && next.definition.runtime.type === "model") throw missing("model");
  return next;
}

/** A new agent is a change to the defaults. */
export function newDefinition(patch: AgentDefinitionPatch): StoredDefinition {
  const { security, ...definition } = agentDefaults;
  return applyPatch(
    { definition: { ...definition, model: remoteModel } as StoredDefinition["definition"], security },
    patch,
  );
}
