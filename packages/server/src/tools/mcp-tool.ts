import { isObject, notAnObjectMessage } from "./call-arguments.ts";
import { PermanentToolError, type ToolCallContext, type ToolDeps, type ToolResult } from "./call-tool.ts";
import { withMcpClient } from "./mcp-client.ts";
import { resultToText } from "./mcp-content.ts";
import { fitForModel } from "./text-for-model.ts";
import type { McpTarget, RunTool } from "./tool-set.ts";

export async function callMcpTool(
  deps: ToolDeps,
  { name, parameters }: RunTool["definition"],
  { url, tool, stateless = false }: McpTarget,
  args: unknown,
  { idempotencyKey, requestId, signal }: ToolCallContext,
): Promise<ToolResult> {
  if (!isObject(args)) return { content: notAnObjectMessage(name), failed: true };
  const connection = {
    subject: `The tool ${name}`,
    url,
    discover: stateless,
    headers: { "idempotency-key": idempotencyKey, "x-request-id": requestId },
    signal,
  };
  try {
    return await withMcpClient(deps, connection, async (client) => {
      // The client needs the definition to know which arguments this server wants in headers.
      if (stateless) client.toolsFromDefinitions({ tools: [{ name: tool, inputSchema: { ...parameters } }] });
      const result = await client.callTool({ name: tool, arguments: args, options: { signal } });
      return { content: fitForModel(resultToText(result)), failed: "isError" in result && result.isError === true };
    });
  } catch (error) {
    if (error instanceof PermanentToolError) return { content: error.message, failed: true };
    throw error;
  }
}
