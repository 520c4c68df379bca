import type { CallToolResult, MCPClient } from "@ai-sdk/mcp";
import type { McpTool } from "@perch/contract";
import type { z } from "zod";
import type { ApprovalFloor } from "../../platform/approval-floor.ts";
import { storableJson, storableText } from "../../platform/storable-text.ts";
import { traceHeaders } from "../../platform/trace-parent.ts";
import type { Redactor } from "../secrets/redactor.ts";
import { adviseLogin } from "../secrets/resolve-call.ts";
import { agentHeaders } from "../signing/agent-headers.ts";
import { callWithAccount, type Login } from "./call-with-account.ts";
import { type ToolUser, usedConnection } from "./find-token.ts";
import { whyUnderFloor } from "./floor-rules.ts";
import { withMcpClient } from "./mcp-client.ts";
import {
  failedResult,
  type ListingRun,
  type McpTarget,
  type RunTool,
  type ToolArguments,
  type ToolCallContext,
  type ToolDeps,
  type ToolResult,
} from "./tool.ts";
import { approvalOfUnnamed, resolveApproval } from "./tool-approval.ts";
import { PermanentToolError } from "./tool-errors.ts";
import { assertWithinLimits, type ListedTool } from "./tool-set.ts";
import { redactResult } from "./truncate-text.ts";

const maxPages = 128;
/** Of all pages together. The tools of a run have far less. */
const maxListingBytes = 1024 * 1024;
/** The first version of MCP that needs neither handshake nor session. */
const firstStatelessVersion = "2026-07-28";

type Server = z.infer<typeof McpTool>;

/** `of` describes the owner of the settings, for users: "the tool orders". */
const adviceFor = (of: string, login: Login, headers: McpTarget["headers"]): string =>
  login.advise?.(`\`connection\` of ${of}`) ?? adviseLogin(`\`headers\` of ${of}`, { headers });

/** Throws a `NotConnectedError` if the server needs an account that the user has not connected. */
export function listMcpTools(
  deps: ToolDeps,
  server: Server,
  user: ToolUser,
  signal: AbortSignal,
  run?: ListingRun,
): Promise<ListedTool[]> {
  const { name, url } = server;
  const connection = server.connection && usedConnection(server.connection);
  const tool = connection && { type: "mcp" as const, name, url, connection };
  const subject = `The MCP server ${name}`;
  return callWithAccount(deps, { user, tool, signal }, async (login) => {
    const own = await deps.resolveCall(user, { ...server, subject });
    const ofRun = run && { "x-request-id": run.requestId, ...traceHeaders(run.trace) };
    const redactor = login.addTo(own.redactor);
    const client = {
      subject,
      url,
      urlSetting: `\`url\` of the tool ${name}`,
      loginAdvice: adviceFor(`the tool ${name}`, login, server.headers),
      discover: true,
      headers: { ...own.headers, ...login.headers, ...agentHeaders(user), ...ofRun },
      redactor,
      maxTotalBytes: maxListingBytes,
      signal,
    };
    return withMcpClient(deps, client, (opened) =>
      listAllPages(opened, { server, floor: run?.floor }, redactor, signal),
    );
  });
}

interface Listing {
  readonly server: Server;
  readonly floor: ApprovalFloor | undefined;
}

/** A server that renamed a tool must not have made it free of approval. */
function withMissing(tools: readonly ListedTool[], { server, floor }: Listing): ListedTool[] {
  const { approval: policy, tool_approvals: ofTools = {} } = server;
  const names = new Set(tools.map(({ target }) => target.tool));
  const missing = Object.entries(ofTools).flatMap(([name, each]) => (names.has(name) ? [] : [each]));
  const approval = approvalOfUnnamed(policy, missing);
  if (!approval) return [...tools];
  return tools.map((each) => {
    const { tool } = each.target;
    if (Object.hasOwn(ofTools, tool)) return each;
    const because = whyUnderFloor(floor, server, tool);
    return { ...each, approval: because === undefined ? approval : { ...approval, because, invokerMayDecide: false } };
  });
}

async function listAllPages(
  client: MCPClient,
  listing: Listing,
  redactor: Redactor,
  signal: AbortSignal,
): Promise<ListedTool[]> {
  const { name: server, url, headers, connection, approval: policy, tool_approvals: ofTools = {} } = listing.server;
  const stateless = client.initializeResult.protocolVersion >= firstStatelessVersion;
  const shared = {
    ...(headers && { headers }),
    ...(stateless && { stateless }),
    ...(connection && { connection: usedConnection(connection), server }),
  };
  const found = new Map<string, ListedTool>();
  let cursor: string | undefined;
  for (let pages = 0; pages < maxPages; pages++) {
    const page = await client.listTools({
      ...(cursor === undefined ? {} : { params: { cursor } }),
      options: { signal },
    });
    const before = found.size;
    const listed = page.tools.map(({ name: tool, description, title, inputSchema, annotations }) => {
      // The definition's word on this very tool wins, except over the floor.
      const ownPolicy = Object.hasOwn(ofTools, tool) ? ofTools[tool] : policy;
      const approval = resolveApproval(ownPolicy, annotations, whyUnderFloor(listing.floor, listing.server, tool));
      return {
        server,
        description: storableText(description ?? title ?? ""),
        parameters: storableJson({ ...inputSchema, type: "object" }) as ListedTool["parameters"],
        target: { kind: "mcp" as const, url, tool, ...shared },
        ...(approval && { approval }),
      };
    });
    // Before a page of megabytes is searched for secrets.
    assertWithinLimits(
      [...new Map([...found, ...listed.map((each) => [each.target.tool, each] as const)]).values()],
      server,
    );
    const texts = listed.map(({ description, parameters }) => ({ description, parameters }));
    const searched = (await redactor.json(texts)) as typeof texts;
    for (const [at, each] of listed.entries()) found.set(each.target.tool, { ...each, ...searched[at] });
    cursor = page.nextCursor;
    // A page that brings no tool ends the listing, whatever its cursor says.
    if (!cursor || found.size === before) return withMissing([...found.values()], listing);
  }
  throw new PermanentToolError(`The MCP server ${server} lists its tools on more than ${maxPages} pages.`);
}

interface NamedTarget {
  readonly definition: RunTool["definition"];
  readonly target: McpTarget;
}

export async function callMcpTool(
  deps: ToolDeps,
  { definition, target }: NamedTarget,
  args: ToolArguments,
  context: ToolCallContext,
): Promise<ToolResult> {
  const { url, connection, server: name = "" } = target;
  const tool = connection && { type: "mcp" as const, name, url, connection };
  const { owner: user, signal } = context;
  try {
    return await callWithAccount(deps, { user, tool, signal }, (login) =>
      callOnce(deps, { definition, target }, args, context, login),
    );
  } catch (error) {
    if (error instanceof PermanentToolError) return failedResult(error.message, error.summary);
    throw error;
  }
}

async function callOnce(
  deps: ToolDeps,
  { definition, target }: NamedTarget,
  args: ToolArguments,
  { owner, idempotencyKey, requestId, trace, signal }: ToolCallContext,
  login: Login,
): Promise<ToolResult> {
  const { url, tool, stateless = false } = target;
  const subject = `The tool ${definition.name}`;
  const own = await deps.resolveCall(owner, { ...target, subject });
  const redactor = login.addTo(own.redactor);
  const connection = {
    subject,
    url,
    urlSetting: "`url` of its MCP server",
    loginAdvice: adviceFor("its MCP server", login, target.headers),
    discover: stateless,
    redactor,
    headers: {
      ...own.headers,
      ...login.headers,
      "idempotency-key": idempotencyKey,
      "x-request-id": requestId,
      ...agentHeaders(owner),
      ...traceHeaders(trace),
    },
    signal,
  };
  return withMcpClient(deps, connection, async (client) => {
    // The client needs the definition to know which arguments this server wants in headers.
    if (stateless) client.toolsFromDefinitions({ tools: [{ name: tool, inputSchema: { ...definition.parameters } }] });
    const result = await client.callTool({ name: tool, arguments: args, options: { signal } });
    const content = await redactResult(resultToText(result), redactor);
    const isError = "isError" in result && result.isError === true;
    return isError ? failedResult(content, `${subject} reported an error.`) : { content, failed: false };
  });
}

type ContentPart = Readonly<Record<string, unknown>> & { readonly type: string };

const bytesIn = (base64: unknown) => `${typeof base64 === "string" ? Buffer.byteLength(base64, "base64") : 0} bytes`;
const joinText = (...parts: readonly unknown[]) => parts.filter((part) => typeof part === "string" && part).join(" ");

function describeResource(resource: unknown): string {
  if (typeof resource !== "object" || resource === null) return "[resource]";
  const { uri, mimeType, text, blob } = resource as Readonly<Record<string, unknown>>;
  if (typeof text === "string") return `[${joinText("resource", uri)}]\n${text}`;
  return `[${joinText("resource", uri, mimeType)}, ${bytesIn(blob)}]`;
}

/** Models are given text, so other parts are described. */
function partToText(part: ContentPart): string {
  const { type, text, mimeType, data, resource, uri, name, description } = part;
  if (type === "text" && typeof text === "string") return text;
  if (type === "resource") return describeResource(resource);
  if (type === "resource_link") return `[${joinText("resource", uri, name, description)}]`;
  if (data !== undefined) return `[${joinText(type, mimeType)}, ${bytesIn(data)}]`;
  return `[${type}]`;
}

const hasText = ({ type, text, resource }: ContentPart) =>
  (type === "text" && text !== "") || (typeof resource === "object" && resource !== null && "text" in resource);

/** All of a result as one text, not yet truncated. */
function resultToText(result: CallToolResult): string {
  if (!("content" in result) || !Array.isArray(result.content))
    return JSON.stringify("toolResult" in result ? result.toolResult : result);
  const parts: readonly ContentPart[] = result.content;
  const structured = parts.some(hasText) ? undefined : result.structuredContent;
  return [...parts.map(partToText), ...(structured === undefined ? [] : [JSON.stringify(structured)])].join("\n");
}
