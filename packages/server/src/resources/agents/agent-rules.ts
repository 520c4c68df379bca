import { isDeepStrictEqual } from "node:util";
import {
  type AgentDefinition,
  type AgentDefinitionPatch,
  type AgentStatus,
  agentDefaults,
  remoteModel,
  type SecuritySettings,
} from "@perch/contract";
import { invalid, missing } from "../../platform/api-error.ts";
import type { Transitions } from "../transitions.ts";
import { logSettingOf } from "./log-setting.ts";

/** As stored: `security` apart, because versions and rollbacks must never touch it. */
export interface StoredDefinition {
  readonly definition: Omit<AgentDefinition, "security">;
  readonly security: SecuritySettings;
}

/** The states of an agent. ARCHITECTURE.md shows the same table as a diagram. */
export const agentTransitions = {
  create: { from: [null], to: "running" },
  pause: { from: ["running"], to: "paused" },
  resume: { from: ["paused"], to: "running" },
  delete: { from: ["running", "paused"], to: null },
} as const satisfies Transitions<AgentStatus>;

const withoutUndefined = <T extends object>(fields: T): Partial<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;

/** undefined keeps, null restores the default, an object merges field by field. */
const mergeFields = <T extends object>(current: T, change: object | null | undefined, fallback: T): T =>
  change === null ? fallback : { ...current, ...withoutUndefined(change ?? {}) };

const replaceField = <T>(current: T, change: T | null | undefined, fallback: T): T =>
  change === undefined ? current : (change ?? fallback);

/** Blocks of `security` are replaced as a whole; a null block is removed. */
const withoutNulls = (settings: object): SecuritySettings =>
  Object.fromEntries(Object.entries(settings).filter(([, block]) => block !== null));

/** The maximum size of its JSON. Every process that serves or runs an agent reads its whole definition. */
const maxDefinitionBytes = 256 * 1024;
/** The limit of objects, lists and values in them: small ones take far more memory than their text does. */
const maxDefinitionValues = 20_000;

const countValues = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? Object.values(value).reduce((sum: number, item) => sum + countValues(item), 1)
    : 1;

function refuseLarge(definition: StoredDefinition["definition"]): void {
  const bytes = Buffer.byteLength(JSON.stringify(definition));
  if (bytes > maxDefinitionBytes)
    throw invalid(
      "definition",
      `Must have at most ${maxDefinitionBytes} bytes of JSON; with this change it has ${bytes}. Shorten the instructions or the tools`,
    );
  const values = countValues(definition);
  if (values > maxDefinitionValues)
    throw invalid(
      "definition",
      `Must have at most ${maxDefinitionValues} values; with this change it has ${values}. Simplify the parameters of the tools`,
    );
}

function mergePatch({ definition, security }: StoredDefinition, patch: AgentDefinitionPatch): StoredDefinition {
  return {
    definition: {
      model: patch.model ?? definition.model,
      temperature: replaceField(definition.temperature, patch.temperature, agentDefaults.temperature),
      instructions: replaceField(definition.instructions, patch.instructions, agentDefaults.instructions),
      tools: replaceField(definition.tools, patch.tools, agentDefaults.tools),
      memory: mergeFields({ ...agentDefaults.memory, ...definition.memory }, patch.memory, agentDefaults.memory),
      limits: mergeFields(definition.limits, patch.limits, agentDefaults.limits),
      logs: replaceField(logSettingOf(definition), patch.logs, agentDefaults.logs),
      fallback_models: replaceField(definition.fallback_models, patch.fallback_models, agentDefaults.fallback_models),
      runtime: replaceField<AgentDefinition["runtime"]>(definition.runtime, patch.runtime, { type: "model" }),
      // Left out if it is not set: versions from before it existed keep their checksum.
      ...withoutUndefined({ approvals: replaceField(definition.approvals, patch.approvals, undefined) }),
    },
    security: withoutNulls(mergeFields<object>(security, patch.security, agentDefaults.security)),
  };
}

/**
 * Whether they show the same. A definition that was stored before a field existed differs only in the missing field.
 */
export const isSameDefinition = (stored: StoredDefinition, next: StoredDefinition): boolean =>
  isDeepStrictEqual(mergePatch(stored, {}), next);

export function applyPatch(stored: StoredDefinition, patch: AgentDefinitionPatch): StoredDefinition {
  const next = mergePatch(stored, patch);
  // Only a remote agent needs no model, and it stops being remote when its runtime is removed.
  if (next.definition.model === remoteModel && next.definition.runtime.type === "model") throw missing("model");
  refuseLarge(next.definition);
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
