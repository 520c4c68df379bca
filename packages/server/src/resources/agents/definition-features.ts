import { type AgentDefinition, secretNamesIn } from "@perch/contract";
import type { ReleaseFeature } from "../../platform/release-features.ts";

type Definition = Pick<AgentDefinition, "runtime" | "tools">;

/** Whether a person may have to decide in its runs. Servers are not asked for hints: any word but `never` counts. */
export const mayNeedPerson = ({ runtime, tools }: Definition): boolean =>
  runtime.type === "model" &&
  tools.some((tool) => {
    if (tool.type === "ask_person") return true;
    const policies = [tool.approval, ...(tool.type === "mcp" ? Object.values(tool.tool_approvals ?? {}) : [])];
    return policies.some((policy) => policy !== undefined && policy !== "never");
  });

const usesConnection = ({ tools }: Definition): boolean =>
  tools.some((tool) => tool.type !== "ask_person" && tool.connection !== undefined);

const usesSecret = ({ runtime, tools }: Definition): boolean =>
  secretNamesIn(JSON.stringify([runtime, tools])).length > 0;

const uses: Readonly<Record<ReleaseFeature, (definition: Definition) => boolean>> = {
  approvals: mayNeedPerson,
  connections: usesConnection,
  secrets: usesSecret,
};

type Calling = Pick<AgentDefinition, "runtime" | "tools" | "model" | "fallback_models" | "memory">;

/** Whether its runs may call other servers, where what an organisation may do depends on its tier. */
export const callsOthers = ({ runtime, tools, model, fallback_models, memory }: Calling): boolean =>
  runtime.type !== "model" ||
  tools.length > 0 ||
  memory.recall ||
  memory.remember ||
  [model, ...fallback_models].some((name) => !name.startsWith("perch/"));

const needed = new WeakMap<Definition, readonly ReleaseFeature[]>();

/** What a worker has to understand to run an agent as it is defined. */
export function featuresNeededBy(definition: Definition): readonly ReleaseFeature[] {
  // Definitions are cached, and run many times.
  const known = needed.get(definition);
  if (known) return known;
  const features = (Object.keys(uses) as ReleaseFeature[]).filter((feature) => uses[feature](definition));
  needed.set(definition, features);
  return features;
}
