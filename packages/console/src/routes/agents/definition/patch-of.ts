import type { UpdateAgent } from "@perch/sdk";
import { hashKey } from "@tanstack/react-query";
import type { AgentDocument } from "./agent-document.ts";

/** Whether two values are the same JSON, whatever the order of their fields. */
export const isSameJson = (a: unknown, b: unknown): boolean => hashKey([a]) === hashKey([b]);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const nullFor = (fields: object): Record<string, null> =>
  Object.fromEntries(Object.keys(fields).map((name) => [name, null]));

/**
 * The change that turns `base` into `next`. The document is the whole definition, so a removed field gets its default again: the API merges
 * `memory`, `limits` and `security` field by field, and would otherwise leave it unchanged.
 */
export function patchOf(base: AgentDocument, next: AgentDocument, defaults: AgentDocument): UpdateAgent {
  const patch: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(base), ...Object.keys(next)])) {
    const [before, after] = [base[name], next[name]];
    if (isSameJson(before, after)) continue;
    if (after === undefined) patch[name] = null;
    else if ((name === "memory" || name === "limits") && isObject(after))
      patch[name] = { ...(defaults[name] as object), ...after };
    else if (name === "security" && isObject(after) && isObject(before)) patch[name] = { ...nullFor(before), ...after };
    else patch[name] = after;
  }
  return patch;
}
