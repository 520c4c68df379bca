import type { AgentDefinition } from "@perch/contract";

/** Whether a person may have to decide in its runs. Servers are not asked for hints: any word but `never` counts. */
export const mayNeedPerson = ({ runtime, tools }: Pick<AgentDefinition, "runtime" | "tools">): boolean =>
  runtime.type === "model" &&
  tools.some((tool) => {
    if (tool.type === "ask_person") return true;
    const policies = [tool.approval, ...(tool.type === "mcp" ? Object.values(tool.tool_approvals ?? {}) : [])];
    return policies.some((policy) => policy !== undefined && policy !== "never");
  });
