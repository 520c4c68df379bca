import type { CallTool, ToolDeps } from "./call-tool.ts";
import { callHttpTool } from "./http-tool.ts";
import { createListTools } from "./list-tools.ts";
import { callMcpTool } from "./mcp-tool.ts";
import { fitForModel } from "./text-for-model.ts";
import type { ListTools } from "./tool-set.ts";

export interface Tools {
  readonly list: ListTools;
  readonly call: CallTool;
}

export function createTools(deps: ToolDeps): Tools {
  return {
    list: createListTools(deps),
    call: async ({ definition, target }, args, context) => {
      switch (target.kind) {
        case "http":
          return callHttpTool(deps, { name: definition.name, target }, args, context);
        case "mcp":
          return callMcpTool(deps, definition, target, args, context);
        case "echo":
          return { content: fitForModel(JSON.stringify(args) ?? "null"), failed: false };
      }
    },
  };
}
