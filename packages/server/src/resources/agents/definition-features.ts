import { type AgentDefinition, secretNamesIn } from "@perch/contract";
import type { ApprovalFloor } from "../../platform/approval-floor.ts";
import type { ReleaseFeature } from "../../platform/release-features.ts";

type Definition = Pick<AgentDefinition, "runtime" | "tools">;

/** Whether a person may have to decide in its runs. Servers are not asked for hints: any word but `never` counts. */
export const mayNeedPerson = ({ runtime, tools }: Definition, floor?: ApprovalFloor): boolean =>
  floor !== undefined ||
  (runtime.type === "model" &&
    tools.some((tool) => {
      if (tool.type === "ask_person") return true;
      const policies = [tool.approval, ...(tool.type === "mcp" ? Object.values(tool.tool_approvals ?? {}) : [])];
      return policies.some((policy) => policy !== undefined && policy !== "never");
    }));

const usesConnection = ({ tools }: Definition): boolean =>
  tools.some((tool) => tool.type !== "ask_person" && tool.connection !== undefined);

const usesSecret = ({ runtime, tools }: Definition): boolean =>
  secretNamesIn(JSON.stringify([runtime, tools])).length > 0;

type DefinedFeature = Exclude<ReleaseFeature, "approval_floor">;

const uses: Readonly<Record<DefinedFeature, (definition: Definition) => boolean>> = {
  approvals: (definition) => mayNeedPerson(definition),
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

function featuresOf(definition: Definition): readonly ReleaseFeature[] {
  // Definitions are cached, and run many times.
  const known = needed.get(definition);
  if (known) return known;
  const features = (Object.keys(uses) as DefinedFeature[]).filter((feature) => uses[feature](definition));
  needed.set(definition, features);
  return features;
}

/** What a worker has to understand to run an agent as it is defined, with the floor of its approvals. */
export function featuresNeededBy(definition: Definition, floor?: ApprovalFloor): readonly ReleaseFeature[] {
  const features = featuresOf(definition);
  return floor ? [...new Set([...features, "approvals" as const, "approval_floor" as const])] : features;
}
