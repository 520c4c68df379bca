import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { oidcClient } from "@perch/testkit/identity/open-id-provider.ts";
import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { lastUserMessage, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createOwnAddresses } from "../../src/outbound/own-addresses.ts";
import { expectError, ok } from "../support/contract-client.ts";
import { createModelProvider } from "../support/create-model-provider.ts";
import {
  closeAll,
  createTestClient,
  rejectionReason,
  replyHello,
  startTestServer,
} from "../support/guarded-client-servers.ts";
import { usePerch } from "../support/harness.ts";
import { invokeAgent } from "../support/invoke-calls.ts";
import { searchMemory } from "../support/memory-calls.ts";
import { sendRawRequest } from "../support/raw-request.ts";

// The operator has opened everything here, so that a refusal can only come from the address being our own.
const everything = ["0.0.0.0/0", "::/0"];
const results: string[] = [];
const script = await startScriptServer((call) => {
  const said = JSON.stringify(call);
  if (call.step > 1) results.push(said);
  const wantsTool = lastUserMessage(call) === "use the tool" && call.step === 1;
  return wantsTool ? { tool_calls: [{ name: "look", arguments: {} }] } : { reply: "done" };
});
/** Plays a part of the installation, and counts connections. */
const inside = { url: "", connections: 0 };
const startPart = async () => {
  const part = createServer((_, reply) => reply.end("{}")).on("connection", () => inside.connections++);
  await new Promise<void>((resolve) => part.listen(0, "127.0.0.1", resolve));
  afterAll(() => void part.close());
  return (part.address() as AddressInfo).port;
};
inside.url = `http://127.0.0.1:${await startPart()}/`;
const [nodePort, publicPort] = [await startPart(), await startPart()];

const perch = usePerch(
  {
    engineNodePorts: [nodePort],
    publicUrl: `http://localhost:${publicPort}`,
    // No role connects to it.
    migrationDatabaseUrl: inside.url.replace("http", "postgres"),
    outboundAllowedPrivateRanges: everything,
    webhookAllowLoopback: true,
    valkeyUrl: serviceUrl("PERCH_VALKEY_URL"),
    scriptModelUrl: script.url,
  },
  { withWorker: true },
);
afterAll(() => script.close());
afterEach(closeAll);

/** The installation's ports, by name. */
let ports: Readonly<Record<string, number>>;
beforeAll(() => {
  const { config } = perch().server.core;
  const portOf = (url: string | undefined, usual: number) => Number(new URL(url ?? "").port) || usual;
  ports = {
    engine: portOf(config.ingressUrls[0], 80),
    "engine's admin": portOf(config.adminUrls[0], 80),
    database: portOf(config.databaseUrl, 5432),
    valkey: portOf(config.valkeyUrl, 6379),
    api: portOf(perch().url, 80),
    "engine's nodes": nodePort,
    "public URL": publicPort,
  };
});

const ofMachine = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .filter(({ internal, family }) => !internal && family === "IPv4")
  .map(({ address }) => address);
const spellings = [
  "127.0.0.1",
  "127.1",
  "127.8.8.8",
  "localhost",
  "0.0.0.0",
  "[::1]",
  "[::ffff:127.0.0.1]",
  ...ofMachine,
];

describe("an address of the installation", () => {
  test.each(["engine", "engine's admin", "engine's nodes", "database", "valkey", "api", "public URL"])(
    "is refused in every spelling: the %s",
    async (name) => {
      verifies("outbound.guarded");
      const { guarded } = perch().server.core.outbound;
      for (const host of spellings) {
        const refused = await rejectionReason(guarded.fetch(`http://${host}:${ports[name]}/health`));
        expect([host, refused]).toEqual([host, expect.objectContaining({ name: "RefusedAddressError" })]);
      }
    },
  );

  test("is refused beside another port of the same machine, which is reached", async () => {
    const tool = await startTestServer(replyHello);
    const { guarded } = perch().server.core.outbound;
    expect(await (await guarded.fetch(tool.url)).text()).toBe("hello");
  });

  // At a port at which nothing answers, so that a broken guard asks no real one.
  test.each([
    "http://169.254.169.254:65432/",
    "http://169.254.170.2:65432/",
    "http://[fd00:ec2::254]:65432/",
    "http://100.100.100.200:65432/",
    "http://metadata.google.internal:65432/",
    "http://[64:ff9b::a9fe:a9fe]:65432/",
  ])("and so is a metadata service: %s", async (url) => {
    const refused = await rejectionReason(perch().server.core.outbound.guarded.fetch(url));
    expect(refused).toMatchObject({ name: "RefusedAddressError" });
  });

  test("is refused to a name that another answer of DNS leads there", async () => {
    const inside = await startTestServer(replyHello);
    const own = createOwnAddresses([{ host: "127.0.0.1", port: inside.port }]);
    let asked = 0;
    const addresses = ["127.0.0.1", "8.8.8.8"];
    const { fetch } = createTestClient({
      allowedRanges: everything,
      own,
      resolve: async () => [{ address: addresses[asked++ % 2] ?? "", family: 4 }],
    });
    const refused = await rejectionReason(fetch(`http://rebinding.example:${inside.port}/`));
    expect(refused).toMatchObject({ name: "RefusedAddressError" });
    expect(inside.connectedAddresses).toEqual([]);
  });
});

describe("addresses that a tenant configures do not reach it", () => {
  const hint = "belongs to Perch itself";
  const createOrganisationWithAgent = async (definition: object) => {
    const organisation = await perch().createOrganisation();
    await createModelProvider(organisation, inside.url);
    const body = { name: "bot", model: "perch/script", ...definition };
    ok(await organisation.call("POST /v1/agents", { body }));
    return organisation;
  };
  afterEach(() => expect(inside.connections).toBe(0));

  test("a webhook: refused when it is created, and blocked when it is delivered", async () => {
    const { call } = await perch().createOrganisation();
    const events: "agent.failed"[] = ["agent.failed"];
    for (const port of [...Object.values(ports), new URL(inside.url).port]) {
      const body = { url: `http://127.0.0.1:${port}/`, events };
      const { details } = expectError(await call("POST /v1/webhooks", { body }), "invalid_request");
      expect(details).toMatchObject([{ field: "url", error: expect.stringContaining(hint) }]);
    }
    const { id } = ok(await call("POST /v1/webhooks", { body: { url: "http://127.0.0.1:65432/", events } })).data;
    // As if its name had led elsewhere when it was created.
    await withClient(perch().database.adminUrl, (client) => client.query("update webhooks set url = $1", [inside.url]));
    const params = { webhook_id: id };
    const { id: delivery_id } = ok(await call("POST /v1/webhooks/{webhook_id}/test", { params })).data;
    const readAttempts = async () =>
      ok(await call("GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}", { params: { ...params, delivery_id } }))
        .data.attempt_log;
    await expect.poll(readAttempts, { timeout: 10_000 }).toMatchObject([{ error: expect.stringContaining(hint) }]);
  });

  test.each([
    ["a remote agent", () => ({ model: undefined, runtime: { type: "http", url: inside.url } })],
    ["a model provider", () => ({ model: "acme/small" })],
    ["an MCP server", () => ({ tools: [{ type: "mcp", name: "orders", url: inside.url }] })],
  ])("%s: its runs fail", async (_, definition) => {
    const { adminKey } = await createOrganisationWithAgent(definition());
    const { error } = await invokeAgent(perch(), adminKey, { message: "hello" });
    expect(error.message).toContain(hint);
  });

  test("an HTTP tool: the model reads that it failed", async () => {
    const tool = { type: "http", name: "look", description: "Looks.", method: "GET", parameters: { type: "object" } };
    const { adminKey } = await createOrganisationWithAgent({ tools: [{ ...tool, url: inside.url }] });
    expect((await invokeAgent(perch(), adminKey, { message: "use the tool" })).data.response).toBe("done");
    expect(results.at(-1)).toContain(hint);
  });

  test("an embedder: a search is by words only, and shows why", async () => {
    const memory = { embedder: { model: "acme/embed", dimensions: 768 } };
    const organisation = await createOrganisationWithAgent({ memory });
    expect((await searchMemory(organisation, "anything")).search.notice).toContain("acme/embed could not be asked");
  });

  test("a token issuer: the token is refused", async () => {
    const auth = {
      type: "oauth2",
      provider: inside.url,
      ...oidcClient,
      audience: "urn:perch",
      scopes: ["read:agents"],
    };
    const { adminKey } = await createOrganisationWithAgent({ auth });
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const token = `${encode({ alg: "RS256", kid: "k" })}.${encode({ iss: inside.url, exp: 4e9 })}.AAAA`;
    const headers = { "x-user-token": token };
    const { status } = await sendRawRequest(`${perch().url}/v1/agents/bot`, { key: adminKey, headers });
    expect([401, 503]).toContain(status);
  });
});

test("a redirect does not lead there either", async () => {
  const outside = await startTestServer((_, reply) => void reply.writeHead(307, { location: inside.url }).end());
  const answer = await perch().server.core.outbound.guarded.fetch(outside.url, { redirect: "follow" });
  expect([answer.status, inside.connections]).toEqual([307, 0]);
});
