import type { AgentDocument } from "./agent-document.ts";
import { defaultsOf, type Schema } from "./definition-schema.ts";
import { isSameJson } from "./patch-of.ts";

/** The fields of the form. For `memory` it has all but the embedder; tools are edited one by one. */
const shown = ["model", "fallback_models", "temperature", "instructions", "tools", "memory", "limits", "logs"];
const unshown = ["embedder"];

/**
 * Fields that differ from their default and are only visible in the YAML, so that the user does not take the form for the whole definition.
 */
export function fieldsOnlyInYaml(schema: Schema, document: AgentDocument): string[] {
  const defaults = defaultsOf(schema);
  const whole = Object.keys(document).filter(
    (name) => !shown.includes(name) && !isSameJson(document[name], defaults[name]),
  );
  const [memory, memoryDefaults] = [document.memory, defaults.memory] as Record<string, unknown>[];
  const inMemory = unshown.filter(
    (name) => memory?.[name] !== undefined && !isSameJson(memory[name], memoryDefaults?.[name]),
  );
  return [...whole, ...inMemory.map((name) => `memory.${name}`)];
}
