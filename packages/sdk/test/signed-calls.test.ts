import { startMcpServer } from "@perch/testkit/servers/mcp-server.ts";
import { startToolServer, type TestServer } from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, describe, expect, test } from "vitest";
import { usePerch } from "../../server/test/support/harness.ts";
import { createMemoryReplayStore, Perch, verifyRequest } from "../src/index.ts";

const tool = await startToolServer();
const mcp = await startMcpServer();
const remote = await startToolServer(() => ({ body: { response: "hi", tokens_used: 1 } }));
afterAll(() => Promise.all([tool, mcp, remote].map((each) => each.close())));

const server = usePerch(
  { publicUrl: "https://perch.example", outboundAllowedPrivateRanges: ["127.0.0.0/8"] },
  { withWorker: true },
);

interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

interface Whose {
  readonly organisationId: string;
  readonly agentId: string;
}

/**
 * Each passes once, and not again, nor if only another organisation's agents may call. Returns the ids of their runs.
 */
async function verifyAll({ url }: TestServer, calls: readonly Call[], whose: Whose): Promise<(string | undefined)[]> {
  const options = {
    origin: new URL(url).origin,
    directory: server().url,
    organisation: whose.organisationId,
    replayStore: createMemoryReplayStore(),
  };
  const requests = calls.map(({ path, ...call }) => ({ ...call, url: path }));
  const passed = await Promise.all(requests.map((request) => verifyRequest(request, options)));
  for (const request of requests)
    await expect(verifyRequest(request, options)).rejects.toMatchObject({ reason: "replayed" });
  const elsewhere = { ...options, origin: "http://127.0.0.1:1", replayStore: createMemoryReplayStore() };
  for (const request of requests)
    await expect(verifyRequest(request, elsewhere)).rejects.toMatchObject({ reason: "signature_mismatch" });
  const { id: organisation } = await server().createOrganisation();
  const otherOrganisation = { ...options, organisation, replayStore: createMemoryReplayStore() };
  for (const request of requests)
    await expect(verifyRequest(request, otherOrganisation)).rejects.toMatchObject({ reason: "wrong_organisation" });
  for (const call of passed) expect(call).toMatchObject(whose);
  return passed.map(({ runId }) => runId);
}

const createClient = async (): Promise<{ readonly perch: Perch; readonly organisationId: string }> => {
  const { id, adminKey } = await server().createOrganisation();
  return { perch: new Perch({ baseUrl: server().url, apiKey: adminKey }), organisationId: id };
};

describe("verifyRequest", () => {
  test("passes the server's requests to HTTP tools and MCP servers, and returns their run, agent and organisation", async () => {
    verifies("security.calls-verified");
    const { perch, organisationId } = await createClient();
    const parameters = { type: "object" as const, properties: { city: { type: "string" as const } } };
    const described = { type: "http" as const, description: "…", parameters };
    const called = ["weather", "book"].map((name) => ({ name, arguments: { city: "São Paulo/?&#", days: "ü 1+1" } }));
    const steps = [
      { tool_calls: [...called, { name: "shop_lookup_order", arguments: { id: "o1" } }] },
      { reply: "done" },
    ];
    const { id: agentId } = await perch.agents.create({
      name: "bot",
      model: "perch/script",
      instructions: JSON.stringify({ steps }),
      tools: [
        { ...described, name: "weather", method: "GET", url: `${tool.url}/weather/{city}?units=metric` },
        { ...described, name: "book", method: "POST", url: `${tool.url}//book?` },
        { type: "mcp", name: "shop", url: mcp.url },
      ],
    });
    const { request_id } = await perch.agents.invoke("bot", { message: "hello" });
    expect(tool.calls.map(({ method }) => method).sort()).toEqual(["GET", "POST"]);
    expect(await verifyAll(tool, tool.calls, { organisationId, agentId })).toEqual([request_id, request_id]);
    expect(mcp.requests.map(({ rpc }) => rpc)).toEqual(expect.arrayContaining(["tools/list", "tools/call"]));
    expect(new Set(await verifyAll(mcp, mcp.requests, { organisationId, agentId }))).toEqual(new Set([request_id]));
  });

  test("passes the server's requests to a remote agent, and those before a deployment, which belong to no run", async () => {
    const { perch, organisationId } = await createClient();
    const runtime = { type: "http" as const, url: `${remote.url}/agent?tenant=ü` };
    const { id: agentId } = await perch.agents.create({ name: "bot", runtime });
    const { request_id } = await perch.agents.invoke("bot", { message: "grüße 🐦" });
    const { id } = await perch.deployments.create("bot", { environment: "production", version: "v1" });
    await expect.poll(async () => (await perch.deployments.get("bot", id)).status).toBe("active");
    expect(remote.calls.map(({ method }) => method)).toEqual(["POST", "OPTIONS"]);
    expect(await verifyAll(remote, remote.calls, { organisationId, agentId })).toEqual([request_id, undefined]);
  });
});
