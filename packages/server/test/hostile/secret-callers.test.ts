import { startMcpServer } from "@perch/testkit/servers/mcp-server.ts";
import { modelServerKey } from "@perch/testkit/servers/models/model-server.ts";
import { startOpenAiServer } from "@perch/testkit/servers/models/openai-server.ts";
import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { startWebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, describe, expect, test } from "vitest";
import { createGuardedClient } from "../../src/outbound/guarded-client.ts";
import type { FoundSecret } from "../../src/outbound/secrets/find-secrets.ts";
import { createResolveCall } from "../../src/outbound/secrets/resolve-call.ts";
import { createTools } from "../../src/outbound/tools/tools.ts";
import { parsePublicId } from "../../src/platform/ids.ts";
import { ok } from "../support/contract-client.ts";
import { createRedactor } from "../support/create-redactor.ts";
import { deploy } from "../support/deployment-calls.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { invokeAgent } from "../support/invoke-calls.ts";
import { noSecrets } from "../support/no-secrets.ts";
import { createSecret, secretValue } from "../support/secret-calls.ts";
import { bearer, createAgentWithTools, hostOf, httpTool } from "../support/secret-runs.ts";
import { fastWebhookConfig, waitForDeliveriesToEnd } from "../support/webhook-calls.ts";

const [mcp, remote, provider, receiver] = await Promise.all([
  startMcpServer(),
  startToolServer(() => ({ body: { response: "remote" } })),
  startOpenAiServer(() => ({ text: "from the provider" })),
  startWebhookReceiver((_, reply) => void reply.end("thanks")),
]);
afterAll(() => Promise.all([mcp, remote, provider, receiver].map((server) => server.close())));
const perch = usePerch({ ...fastWebhookConfig, outboundAllowedPrivateRanges: ["127.0.0.0/8"] }, { withWorker: true });

const elsewhere = ["bank.example"];
const params = { secret_name: "github_token" };
const invoke = async ({ adminKey }: Organisation): Promise<string> => {
  const { data, error } = await invokeAgent(perch(), adminKey, { message: "hello" });
  return data?.response ?? error.message;
};
/** Allows the secret to go to this address, once it was refused. */
const allow = async ({ call }: Organisation, url: string, value = secretValue) =>
  ok(await call("PATCH /v1/secrets/{secret_name}", { params, body: { value, hosts: [hostOf(url)] } }));

describe("an MCP server", () => {
  test("at another host is not even asked for its tools; at its own, every message carries the secret", async () => {
    verifies("secrets.sent");
    const organisation = await perch().createOrganisation();
    await createSecret(organisation, { hosts: elsewhere });
    const instructions = JSON.stringify({
      steps: [{ tool_calls: [{ name: "orders_add", arguments: { a: 1, b: 2 } }] }, { reply: "done" }],
    });
    const tools = [{ type: "mcp" as const, name: "orders", url: mcp.url, headers: bearer }];
    ok(
      await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/script", instructions, tools } }),
    );
    expect(await invoke(organisation)).toContain(
      `The MCP server orders cannot be called: the secret github_token is not for ${hostOf(mcp.url)}.`,
    );
    expect(mcp.requests).toEqual([]);
    await allow(organisation, mcp.url);
    expect(await invoke(organisation)).toBe("done");
    expect(mcp.calls).toHaveLength(1);
    expect(new Set(mcp.requests.map(({ headers }) => headers.authorization))).toEqual(
      new Set([`Bearer ${secretValue}`]),
    );
    expect(mcp.requests.map(({ rpc }) => rpc)).toEqual(
      expect.arrayContaining(["initialize", "tools/list", "tools/call"]),
    );
  });
});

describe("a remote agent", () => {
  test("at another host gets neither the secret nor the message, and the run shows why", async () => {
    verifies("secrets.sent");
    const organisation = await perch().createOrganisation();
    await createSecret(organisation, { hosts: elsewhere });
    const runtime = { type: "http" as const, url: remote.url, headers: { "X-Api-Key": "{{secret.github_token}}" } };
    ok(await organisation.call("POST /v1/agents", { body: { name: "bot", runtime } }));
    expect(await invoke(organisation)).toContain(
      `The remote agent cannot be called: the secret github_token is not for ${hostOf(remote.url)}.`,
    );
    expect(remote.calls).toEqual([]);
    await allow(organisation, remote.url);
    expect(await invoke(organisation)).toBe("remote");
    expect(remote.calls.map(({ headers }) => headers["x-api-key"])).toEqual([secretValue]);
  });
});

describe("a provider", () => {
  const createAgentWithProvider = async (base_url = provider.url): Promise<Organisation> => {
    const organisation = await perch().createOrganisation();
    const body = { name: "acme", type: "openai-compatible", base_url, models: [] as string[] } as const;
    ok(
      await organisation.call("POST /v1/providers", {
        body: { ...body, models: [], api_key: "{{secret.github_token}}" },
      }),
    );
    ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "acme/small" } }));
    return organisation;
  };

  test("does not get the secret of one agent, even from that agent", async () => {
    const organisation = await createAgentWithProvider();
    await createSecret(organisation, { hosts: [hostOf(provider.url)], value: modelServerKey, agent: "bot" });
    expect(await invoke(organisation)).toContain(
      "Provider acme cannot be called: the secret github_token does not exist. Create it: POST /v1/secrets.",
    );
    await createSecret(organisation, { hosts: [hostOf(provider.url)], value: modelServerKey });
    expect(await invoke(organisation)).toBe("from the provider");
  });

  test("whose base URL was moved gets nothing, and no key is asked for again", async () => {
    verifies("secrets.sent");
    const organisation = await createAgentWithProvider(`${remote.url}/v1`);
    await createSecret(organisation, { hosts: [hostOf(provider.url)], value: modelServerKey });
    remote.calls.length = 0;
    expect(await invoke(organisation)).toContain(
      `Provider acme cannot be called: the secret github_token is not for ${hostOf(remote.url)}.`,
    );
    expect(remote.calls).toEqual([]);
    const body = { base_url: provider.url };
    ok(await organisation.call("PATCH /v1/providers/{provider_name}", { params: { provider_name: "acme" }, body }));
    expect(await invoke(organisation)).toBe("from the provider");
  });
});

describe("an embedder", () => {
  test("gets the secret of its provider only at its host, and refusals are counted", async () => {
    verifies("secrets.sent");
    const organisation = await perch().createOrganisation();
    const body = { name: "acme", type: "openai-compatible", base_url: provider.url } as const;
    const api_key = "{{secret.github_token}}";
    ok(await organisation.call("POST /v1/providers", { body: { ...body, models: [], api_key } }));
    const { memory, telemetry } = perch().server.core;
    const embed = async () => {
      const id = parsePublicId("organisation", organisation.id) ?? "";
      const embedder = await memory.findEmbedder(id, { model: "acme/embed", dimensions: 8 });
      return embedder.embed(["hello"], AbortSignal.timeout(10_000));
    };
    await expect(embed()).rejects.toThrow("Provider acme cannot be called: the secret github_token does not exist.");
    await createSecret(organisation, { hosts: elsewhere, value: modelServerKey });
    await expect(embed()).rejects.toThrow("Provider acme cannot be called: the secret github_token is not for");
    const { text } = await telemetry.read();
    for (const reason of ["missing", "host"])
      expect(text).toContain(`perch_secret_refusals_total{reason="${reason}"} 1`);
    await allow(organisation, provider.url, modelServerKey);
    expect(await embed()).toHaveLength(1);
  });
});

describe("a webhook", () => {
  const createWebhookWithSecret = async (organisation: Organisation, agent_id?: string) =>
    ok(
      await organisation.call("POST /v1/webhooks", {
        body: { url: receiver.url, headers: bearer, events: ["agent.completed"], ...(agent_id && { agent_id }) },
      }),
    ).data;

  test("of all agents does not get one agent's secret; a webhook of that agent does", async () => {
    verifies("secrets.sent");
    const organisation = await perch().createOrganisation();
    ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    await createSecret(organisation, { hosts: [hostOf(receiver.url)], agent: "bot" });
    const [all, own] = [
      await createWebhookWithSecret(organisation),
      await createWebhookWithSecret(organisation, "bot"),
    ];
    await invoke(organisation);
    const [refused] = await waitForDeliveriesToEnd(organisation, all.id, 1);
    expect(refused).toMatchObject({
      status: "failed",
      status_code: null,
      error: "The webhook cannot be called: the secret github_token does not exist. Create it: POST /v1/secrets.",
    });
    await waitForDeliveriesToEnd(organisation, own.id, 1);
    expect(receiver.received.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${secretValue}`]);
  });

  test("at another host than the secret's gets nothing", async () => {
    const organisation = await perch().createOrganisation();
    ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    await createSecret(organisation, { hosts: elsewhere });
    const { id } = await createWebhookWithSecret(organisation);
    const before = receiver.received.length;
    await invoke(organisation);
    const [refused] = await waitForDeliveriesToEnd(organisation, id, 1);
    expect(refused?.error).toContain(
      `The webhook cannot be called: the secret github_token is not for ${hostOf(receiver.url)}.`,
    );
    expect(receiver.received.length).toBe(before);
  });
});

describe("a name that leads elsewhere", () => {
  const found = new Map<string, FoundSecret>([
    ["github_token", { value: secretValue, origins: ["http://tools.example:3000"] }],
  ]);
  const resolveCall = createResolveCall({ createRedactor, findSecrets: async () => found, onRefused: () => undefined });
  const call = (resolve: () => string, url: string) => {
    const lookedUp: string[] = [];
    const client = createGuardedClient({
      allowedRanges: [],
      resolve: async (name) => {
        lookedUp.push(name);
        return [{ address: resolve(), family: 4 }];
      },
    });
    const target = { kind: "http" as const, method: "GET" as const, url, headers: bearer };
    const definition = { name: "search", description: "", parameters: { type: "object" as const } };
    const context = { ...noSecrets, idempotencyKey: "1", requestId: "1", signal: AbortSignal.timeout(5000) };
    const result = createTools({ ...noSecrets, fetch: client.fetch, version: "1", resolveCall }).call(
      { definition, target },
      {},
      context,
    );
    return { result: result.finally(() => void client.close()), lookedUp };
  };

  test("to a private address, also after the first lookup, gets nothing", async () => {
    verifies("secrets.sent");
    for (const address of ["127.0.0.1", "169.254.169.254", "10.0.0.1"]) {
      const { result, lookedUp } = call(() => address, "http://tools.example:3000/");
      expect(await result).toMatchObject({
        failed: true,
        content: expect.stringContaining("resolves to, a private or reserved address"),
      });
      expect(lookedUp).toEqual(["tools.example"]);
    }
  });

  test.each(["http://tools.example.:3000/", "http://tools.example:3001/", "https://tools.example:3000/"])(
    "%s is not even looked up",
    async (url) => {
      const { result, lookedUp } = call(() => "127.0.0.1", url);
      expect(await result).toMatchObject({ failed: true, content: expect.stringContaining("is not for http") });
      expect(lookedUp).toEqual([]);
    },
  );

  test("a user name in the address is refused before a secret is looked for", async () => {
    const { result, lookedUp } = call(() => "127.0.0.1", "http://tools.example:3000@evil.example/");
    expect(await result).toMatchObject({ failed: true, content: expect.stringContaining("user name or password") });
    expect(lookedUp).toEqual([]);
  });
});

describe("a deployment", () => {
  test("fails before it is live, and names every secret that is missing or not for its address", async () => {
    verifies("secrets.preflight");
    const organisation = await perch().createOrganisation();
    await createSecret(organisation, { hosts: elsewhere });
    const headers = { ...bearer, "X-Other": "{{secret.first}} {{secret.second}}" };
    const server = { type: "mcp" as const, name: "orders", url: mcp.url, headers: { "X-Key": "{{secret.third}}" } };
    await createAgentWithTools(organisation, [
      httpTool(remote.url, { headers }),
      httpTool(remote.url, { name: "search", headers: bearer }),
      server,
    ]);
    const before = mcp.requests.length;
    const { status, error } = await deploy(organisation, { version: "v1" });
    expect(status).toBe("failed");
    expect(error).toContain("The tool book cannot be called: the secrets first, second do not exist. Create them:");
    expect(error).toContain(
      `The tool search cannot be called: the secret github_token is not for ${hostOf(remote.url)}.`,
    );
    expect(error).toContain("The MCP server orders cannot be called: the secret third does not exist.");
    expect(mcp.requests.length).toBe(before);
  });

  test("of a remote agent is checked too, and no request to test its address carries the secret", async () => {
    verifies("secrets.preflight");
    const organisation = await perch().createOrganisation();
    const runtime = { type: "http" as const, url: remote.url, headers: bearer };
    ok(await organisation.call("POST /v1/agents", { body: { name: "bot", runtime } }));
    expect((await deploy(organisation, { version: "v1" })).error).toContain(
      "The remote agent cannot be called: the secret github_token does not exist.",
    );
    await createSecret(organisation, { hosts: [hostOf(remote.url)] });
    remote.calls.length = 0;
    expect((await deploy(organisation, { version: "v2" })).status).toBe("active");
    expect(remote.calls.map(({ method, headers }) => [method, headers.authorization])).toEqual([
      ["OPTIONS", undefined],
    ]);
  });
});
