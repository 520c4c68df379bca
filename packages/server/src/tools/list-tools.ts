import type { MCPClient } from "@ai-sdk/mcp";
import type { HttpTool, McpTool } from "@perch/contract";
import type { z } from "zod";
import { storableText } from "../platform/storable-text.ts";
import { PermanentToolError, type ToolDeps } from "./call-tool.ts";
import { withMcpClient } from "./mcp-client.ts";
import { namesForModel } from "./tool-names.ts";
import { echoTool, type ListTools, type McpTarget, type RunTool } from "./tool-set.ts";

const limits = { tools: 128, bytes: 512 * 1024, pages: 128 };
/** The first version of MCP that needs neither handshake nor session. */
const firstStateless = "2026-07-28";

/** A tool before it has the name that the model will know. */
interface ListedTool {
  readonly server: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly target: McpTarget;
}

const toHttpRunTool = ({ name, description, parameters, method, url }: z.infer<typeof HttpTool>): RunTool => ({
  definition: { name, description, parameters },
  target: { kind: "http", method, url },
});

/** Applied to each server while its tools are listed, and to all servers together. */
function assertWithinLimits(listed: readonly ListedTool[], server: string): void {
  if (listed.length > limits.tools)
    throw new PermanentToolError(`With the MCP server ${server} there are more than ${limits.tools} tools.`);
  const bytes = Buffer.byteLength(JSON.stringify(listed));
  if (bytes > limits.bytes)
    throw new PermanentToolError(
      `With the MCP server ${server} the definitions of tools are larger than ${limits.bytes / 1024} KiB.`,
    );
}

async function listServerTools(
  client: MCPClient,
  server: string,
  url: string,
  signal: AbortSignal,
): Promise<ListedTool[]> {
  const stateless = client.initializeResult.protocolVersion >= firstStateless;
  const found = new Map<string, ListedTool>();
  let cursor: string | undefined;
  for (let pages = 0; pages < limits.pages; pages++) {
    const page = await client.listTools({
      ...(cursor === undefined ? {} : { params: { cursor } }),
      options: { signal },
    });
    for (const { name: tool, description, title, inputSchema } of page.tools)
      found.set(tool, {
        server,
        description: storableText(description ?? title ?? ""),
        parameters: { ...inputSchema, type: "object" },
        target: { kind: "mcp", url, tool, ...(stateless ? { stateless } : {}) },
      });
    assertWithinLimits([...found.values()], server);
    cursor = page.nextCursor;
    if (!cursor) return [...found.values()];
  }
  throw new PermanentToolError(`The MCP server ${server} lists its tools on more than ${limits.pages} pages.`);
}

function nameTools(listed: readonly ListedTool[], taken: readonly string[]): RunTool[] {
  const names = namesForModel(
    listed.map(({ server, target: { tool } }) => ({ server, tool })),
    taken,
  );
  const seen = new Set(taken);
  return listed.map(({ server, description, parameters, target }, index) => {
    const name = names[index] ?? "";
    // Only a deliberate hash collision gets here; one tool must not impersonate another.
    if (seen.has(name)) throw new PermanentToolError(`Two tools of the MCP server ${server} would be called ${name}.`);
    seen.add(name);
    return { definition: { name, description, parameters }, target };
  });
}

export function createListTools(deps: ToolDeps): ListTools {
  const listServer = ({ name, url }: z.infer<typeof McpTool>, signal: AbortSignal) =>
    withMcpClient(deps, { subject: `The MCP server ${name}`, url, discover: true, signal }, (client) =>
      listServerTools(client, name, url, signal),
    );

  return async (tools, signal) => {
    const http = tools.filter((tool) => tool.type === "http").map(toHttpRunTool);
    const servers = tools.filter((tool) => tool.type === "mcp");
    // When one server fails, the requests to the others are aborted.
    const controller = new AbortController();
    const combinedSignal = AbortSignal.any([signal, controller.signal]);
    try {
      const listed = await Promise.all(servers.map((server) => listServer(server, combinedSignal)));
      servers.forEach(({ name }, index) => void assertWithinLimits(listed.slice(0, index + 1).flat(), name));
      const taken = [echoTool, ...http].map(({ definition }) => definition.name);
      return [...http, ...nameTools(listed.flat(), taken)];
    } finally {
      controller.abort();
    }
  };
}
