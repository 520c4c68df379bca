import { startMcpServer } from "@perch/testkit/servers/mcp-server.ts";
import { startOpenAiServer } from "@perch/testkit/servers/models/openai-server.ts";
import { startToolServer, type TestServer } from "@perch/testkit/servers/tool-server.ts";
import { startWebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, describe, expect, test } from "vitest";
import { ok } from "../support/contract-client.ts";
import { createModelProvider } from "../support/create-model-provider.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { invokeAgent } from "../support/invoke-calls.ts";
import { startSpanCollector } from "../support/span-collector.ts";
import { type Jwk, verifySignature } from "../support/verify-signature.ts";
import { createWebhook, fastWebhookConfig } from "../support/webhook-calls.ts";

const collector = await startSpanCollector();
let failures = 0;
const tool = await startToolServer(() => (failures-- > 0 ? { status: 503 } : undefined));
const mcp = await startMcpServer();
const remote = await startToolServer(() =>
  failures-- > 0 ? { status: 503 } : { body: { response: "hi", tokens_used: 1 } },
);
const provider = await startOpenAiServer(() => ({ text: "done" }));
const receiver = await startWebhookReceiver();
afterAll(async () => {
  collector.close();
  await Promise.all([tool, mcp, remote, provider, receiver].map((each) => each.close()));
});

const perch = usePerch(
  {
    ...fastWebhookConfig,
    publicUrl: "https://perch.example",
    otlpUrl: collector.url,
    outboundAllowedPrivateRanges: ["127.0.0.0/8"],
  },
  { withWorker: true },
);

const readKeys = async () => {
  const answer = await fetch(`${perch().url}/.well-known/http-message-signatures-directory`);
  return ((await answer.json()) as { keys: Jwk[] }).keys;
};

interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}
const verifyCalls = (server: TestServer, calls: readonly Call[], keys: readonly Jwk[]) =>
  calls.map((call) => verifySignature({ ...call, url: new URL(server.url).origin + call.path }, keys));

const book = {
  type: "http" as const,
  name: "book",
  description: "Books.",
  method: "POST" as const,
  url: `${tool.url}/book`,
  parameters: { type: "object" as const },
};
const shop = { type: "mcp" as const, name: "shop", url: mcp.url };
const steps = [
  {
    tool_calls: [
      { name: "book", arguments: { room: 1 } },
      { name: "shop_lookup_order", arguments: { id: "o1" } },
    ],
  },
  { reply: "done" },
];
const toolAgent = {
  name: "bot",
  model: "perch/script",
  instructions: JSON.stringify({ steps }),
  tools: [book, shop],
};

/** The organisation and the agent of a call, as headers. */
const whoseBot = async (organisation: Organisation) => {
  const { data: agent } = ok(await organisation.call("GET /v1/agents/{agent_id}", { params: { agent_id: "bot" } }));
  return { "perch-organisation": organisation.id, "perch-agent": agent.id };
};

const invoke = async (organisation: Organisation, headers: Record<string, string> = {}) => {
  const { status, text, data } = await invokeAgent(
    perch(),
    organisation.adminKey,
    { message: "hello" },
    {
      headers,
    },
  );
  expect(status, text).toBe(200);
  return data.request_id;
};

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const traced = (id: string) => ({ traceparent: `00-${id}-00f067aa0ba902b7-01` });
const spansOf = (id: string) => collector.spans().filter((span) => span.traceId === id);
const parentsOf = (calls: readonly Call[]) =>
  calls.map(({ headers }) => /^00-[0-9a-f]{32}-([0-9a-f]{16})-01$/.exec(String(headers.traceparent))?.[1]);

describe("a run's calls", () => {
  test("to HTTP tools and MCP servers are signed for the run and its agent, every attempt anew, under the span of that attempt", async () => {
    verifies("security.signed-calls", "security.calls-carry-trace");
    const organisation = await perch().createOrganisation();
    ok(await organisation.call("POST /v1/agents", { body: toolAgent }));
    failures = 1;
    const requestId = await invoke(organisation, traced(traceId));
    const keys = await readKeys();
    expect(tool.calls).toHaveLength(2);
    const attempts = verifyCalls(tool, tool.calls, keys);
    expect(new Set(attempts.map(({ nonce }) => nonce)).size).toBe(2);
    expect(new Set(tool.calls.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
    expect(mcp.requests.map(({ rpc }) => rpc)).toContain("tools/list");
    verifyCalls(mcp, mcp.requests, keys);
    const whose = await whoseBot(organisation);
    for (const { headers } of [...tool.calls, ...mcp.requests])
      expect(headers).toMatchObject({
        "x-request-id": requestId,
        ...whose,
        "signature-agent": 'perch="https://perch.example/.well-known/http-message-signatures-directory"',
        traceparent: expect.stringContaining(traceId),
      });
    await expect.poll(() => spansOf(traceId).some(({ name }) => name.startsWith("invoke_agent"))).toBe(true);
    const spansNamed = (name: string) => spansOf(traceId).filter((span) => span.name === name);
    const bookSpans = spansNamed("execute_tool book").sort((one, other) => one.startMs - other.startMs);
    expect(parentsOf(tool.calls)).toEqual(bookSpans.map(({ spanId }) => spanId));
    const calling = mcp.requests.filter(({ rpc }) => rpc === "tools/call");
    expect(parentsOf(calling)).toEqual(spansNamed("execute_tool shop_lookup_order").map(({ spanId }) => spanId));
    const listing = mcp.requests.filter(({ rpc }) => rpc === "tools/list");
    const runSpan = spansOf(traceId).find(({ name }) => name.startsWith("invoke_agent"));
    expect(parentsOf(listing)).toEqual([runSpan?.spanId]);
  });

  test("to a remote agent are signed for the run and its agent, every attempt anew, under the span of that attempt", async () => {
    const id = "aaaa2f3577b34da6a3ce929d0e0e4736";
    const organisation = await perch().createOrganisation();
    const runtime = { type: "http" as const, url: `${remote.url}/agent?tenant=1` };
    ok(await organisation.call("POST /v1/agents", { body: { name: "bot", runtime } }));
    failures = 1;
    const requestId = await invoke(organisation, traced(id));
    const attempts = verifyCalls(remote, remote.calls, await readKeys());
    expect(attempts).toHaveLength(2);
    expect(new Set(attempts.map(({ nonce }) => nonce)).size).toBe(2);
    const whose = await whoseBot(organisation);
    for (const { headers } of remote.calls) expect(headers).toMatchObject({ "x-request-id": requestId, ...whose });
    const remoteSpans = () => spansOf(id).filter(({ name }) => name === "invoke_agent remote");
    await expect.poll(() => remoteSpans().length).toBe(2);
    expect(new Set(parentsOf(remote.calls))).toEqual(new Set(remoteSpans().map(({ spanId }) => spanId)));
  });

  test("in a preflight are signed for the agent, without a run", async () => {
    const organisation = await perch().createOrganisation();
    ok(await organisation.call("POST /v1/agents", { body: toolAgent }));
    const [toolCalls, mcpCalls] = [tool.calls.length, mcp.requests.length];
    const params = { agent_id: "bot" };
    const deployment = { environment: "production", version: "v1" };
    ok(await organisation.call("POST /v1/agents/{agent_id}/deployments", { params, body: deployment }));
    await expect.poll(() => mcp.requests.slice(mcpCalls).some(({ rpc }) => rpc === "tools/list")).toBe(true);
    const keys = await readKeys();
    const calls = [
      ...verifyCalls(tool, tool.calls.slice(toolCalls), keys),
      ...verifyCalls(mcp, mcp.requests.slice(mcpCalls), keys),
    ];
    expect(calls.length).toBeGreaterThan(2);
    for (const { components } of calls) expect(components).not.toContain('"x-request-id"');
    const whose = await whoseBot(organisation);
    for (const { headers } of [...tool.calls.slice(toolCalls), ...mcp.requests.slice(mcpCalls)])
      expect(headers).toMatchObject(whose);
  });

  test("to model providers and webhooks carry no signature, digest or trace, nor whose agent it is", async () => {
    verifies("security.signed-calls");
    const organisation = await perch().createOrganisation();
    await createModelProvider(organisation, provider.url);
    ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "acme/some-model" } }));
    await createWebhook(organisation, receiver.url);
    await invoke(organisation, traced("bbbb2f3577b34da6a3ce929d0e0e4736"));
    await expect.poll(() => receiver.received.length).toBe(1);
    const received = [...provider.calls, ...receiver.received];
    expect(received.length).toBeGreaterThan(1);
    for (const { headers } of received)
      expect(
        Object.keys(headers).filter((name) => /^(signature|content-digest|traceparent|perch-)/.test(name)),
      ).toEqual([]);
  });
});
