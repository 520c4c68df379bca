import type { MCPClient } from "@ai-sdk/mcp";
import type { HttpTool, McpTool } from "@perch/contract";
import type { z } from "zod";
import { storableText } from "../platform/storable-text.ts";
import { PermanentToolError, type ToolDeps } from "./call-tool.ts";
import { withMcpClient } from "./mcp-client.ts";
import { namesForModel } from "./tool-names.ts";
import { echoTool, type ListTools, type McpTarget, type RunTool } from "./tool-set.ts";

const most = { tools: 128, bytes: 512 * 1024, pages: 128 };
/** The first version of MCP that needs neither handshake nor session. */
const firstStateless = "2026-07-28";

/** A tool before it has the name that the model will know. */
interface Offer {
  readonly server: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly target: McpTarget;
}

const fromHttp = ({ name, description, parameters, method, url }: z.infer<typeof HttpTool>): RunTool => ({
  definition: { name, description, parameters },
  target: { kind: "http", method, url },
});

/** The one limit holds for a server while it is read, and for all of them together. */
function refuseTooMany(offers: readonly Offer[], server: string): void {
  if (offers.length > most.tools)
    throw new PermanentToolError(`With the MCP server ${server} there are more than ${most.tools} tools.`);
  const bytes = Buffer.byteLength(JSON.stringify(offers));
  if (bytes > most.bytes)
    throw new PermanentToolError(
      `With the MCP server ${server} the definitions of tools are larger than ${most.bytes / 1024} KiB.`,
    );
}

async function readOffers(client: MCPClient, server: string, url: string, signal: AbortSignal): Promise<Offer[]> {
  const stateless = client.initializeResult.protocolVersion >= firstStateless;
  const offers = new Map<string, Offer>();
  let cursor: string | undefined;
  for (let page = 0; page < most.pages; page++) {
    const listed = await client.listTools({
      ...(cursor === undefined ? {} : { params: { cursor } }),
      options: { signal },
    });
    for (const { name: tool, description, title, inputSchema } of listed.tools)
      offers.set(tool, {
        server,
        description: storableText(description ?? title ?? ""),
        parameters: { ...inputSchema, type: "object" },
        target: { kind: "mcp", url, tool, ...(stateless ? { stateless } : {}) },
      });
    refuseTooMany([...offers.values()], server);
    cursor = listed.nextCursor;
    if (!cursor) return [...offers.values()];
  }
  throw new PermanentToolError(`The MCP server ${server} lists its tools on more than ${most.pages} pages.`);
}

function nameOffers(offers: readonly Offer[], taken: readonly string[]): RunTool[] {
  const names = namesForModel(
    offers.map(({ server, target: { tool } }) => ({ server, tool })),
    taken,
  );
  const seen = new Set(taken);
  return offers.map(({ server, description, parameters, target }, index) => {
    const name = names[index] ?? "";
    // Only somebody who wants it finds two names with one hash; a tool must not pass for another.
    if (seen.has(name)) throw new PermanentToolError(`Two tools of the MCP server ${server} would be called ${name}.`);
    seen.add(name);
    return { definition: { name, description, parameters }, target };
  });
}

export function createListTools(deps: ToolDeps): ListTools {
  const listServer = ({ name, url }: z.infer<typeof McpTool>, signal: AbortSignal) =>
    withMcpClient(deps, { subject: `The MCP server ${name}`, url, discover: true, signal }, (client) =>
      readOffers(client, name, url, signal),
    );

  return async (tools, signal) => {
    const http = tools.filter((tool) => tool.type === "http").map(fromHttp);
    const servers = tools.filter((tool) => tool.type === "mcp");
    // When one server fails, the others are no longer asked.
    const enough = new AbortController();
    const either = AbortSignal.any([signal, enough.signal]);
    try {
      const listed = await Promise.all(servers.map((server) => listServer(server, either)));
      servers.forEach(({ name }, index) => void refuseTooMany(listed.slice(0, index + 1).flat(), name));
      const taken = [echoTool, ...http].map(({ definition }) => definition.name);
      return [...http, ...nameOffers(listed.flat(), taken)];
    } finally {
      enough.abort();
    }
  };
}
