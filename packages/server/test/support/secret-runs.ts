import type { AgentDefinitionPatch } from "@perch/contract";
import { lastUserMessage, type ModelCall } from "@perch/testkit/servers/script-server.ts";
import { ok } from "./contract-client.ts";
import type { Organisation } from "./harness.ts";
import { invokeAgent } from "./invoke-calls.ts";

export type Tool = NonNullable<AgentDefinitionPatch["tools"]>[number];
type HttpTool = Extract<Tool, { type: "http" }>;

/** The form of a test address in a secret's `hosts`: with its scheme, because it is not HTTPS. */
export const hostOf = (url: string): string => new URL(url).origin;

export const bearer = { Authorization: "Bearer {{secret.github_token}}" };

export const httpTool = (url: string, change: Partial<HttpTool> = {}): Tool => ({
  type: "http",
  name: "book",
  description: "Books.",
  method: "POST",
  url,
  parameters: { type: "object" },
  ...change,
});

/** For `startScriptServer`: the message names a tool call, and the reply is the result that the model got. */
export function callThenQuote(call: ModelCall): object {
  const result = call.messages.findLast(({ role }) => role === "tool");
  if (call.step > 1 && result) return { reply: result.content || "(nothing)" };
  return { tool_calls: [JSON.parse(lastUserMessage(call))] };
}

export async function createAgentWithTools(
  { call }: Pick<Organisation, "call">,
  tools: Tool[],
  name = "bot",
): Promise<void> {
  ok(await call("POST /v1/agents", { body: { name, model: "perch/script", tools } }));
}

interface Invocation {
  readonly agent?: string;
  readonly tool?: string;
  readonly arguments?: object;
  readonly context?: object;
}

/** Makes the model call a tool. Returns the result that the model got, or why the run failed. */
export async function callTool(
  node: { readonly url: string },
  { adminKey }: Organisation,
  { agent = "bot", tool = "book", context, ...given }: Invocation = {},
): Promise<string> {
  const message = JSON.stringify({ name: tool, arguments: given.arguments ?? {} });
  const { data, error } = await invokeAgent(node, adminKey, { message, context }, { agent });
  return data ? data.response : error.message;
}
