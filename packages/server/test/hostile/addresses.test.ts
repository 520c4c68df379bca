import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { runResetAgentSecurity } from "../../src/operator/commands/run-reset-agent-security.ts";
import { ok } from "../support/contract-client.ts";
import { type Organisation, startPerch } from "../support/harness.ts";
import { expectRefusal, sendRawRequest } from "../support/raw-request.ts";

// 127.0.0.9 is the trusted proxy; every other loopback address is untrusted.
const proxy = "127.0.0.9";
const start = (security: object = {}) => startPerch({ trustedProxies: [proxy], security: security as never });

let perch: Awaited<ReturnType<typeof start>>;
let organisation: Organisation;
const agentUrl = (name: string) => `${perch.url}/v1/agents/${name}`;

const createAgent = (name: string, security: object) =>
  organisation
    .call("POST /v1/agents", {
      query: { force: true },
      body: { name, model: "perch/echo", security: security as never },
    })
    .then(ok);
const allowList = (...addresses: string[]) => ({ ipWhitelist: { enabled: true, addresses } });

beforeAll(async () => {
  perch = await start();
  organisation = await perch.createOrganisation();
  await createAgent("https", { enforceHttps: true });
  await createAgent("hsts", { hsts: { enabled: true, maxAge: 600 } });
  await createAgent("off", {
    ipWhitelist: { enabled: false, addresses: [] },
    enforceHttps: false,
    hsts: { enabled: false, maxAge: 600 },
    mtls: { enabled: false, clientCert: "a", clientKey: "b", caCert: "c" },
  });
  await createAgent("nobody", allowList());
  await createAgent("office", allowList("203.0.113.7", "198.51.100.0/24", "2001:db8:1::/48", "::ffff:192.0.2.0/120"));
});
afterAll(() => perch.stop());

describe("IP allow-list", () => {
  test.each([
    ["an address of the list", "203.0.113.7"],
    ["an address of a range", "198.51.100.200"],
    ["an IPv6 address of a range", "2001:db8:1:ffff::1"],
    ["an IPv6 address in another spelling", "2001:0DB8:0001:0000:0000:0000:0000:0001"],
    ["an IPv4 address in IPv6 form", "::ffff:203.0.113.7"],
    ["an IPv4 address in IPv6 form, in hex", "::ffff:cb00:7107"],
    ["an address of a range that is written in IPv6 form", "192.0.2.77"],
    ["the last hop before the proxy, whatever came before it", "6.6.6.6, 203.0.113.7"],
  ])("accepts %s", async (_, forwarded) => {
    verifies("security.ip-allow-list-enforced", "security.govern-rest-api");
    const headers = { "x-forwarded-for": forwarded };
    expect(
      (await sendRawRequest(agentUrl("office"), { key: organisation.adminKey, headers, from: proxy })).status,
    ).toBe(200);
  });

  test("refuses a page of another site that has a key, and whose visitor has an address of the list", async () => {
    verifies("security.ip-allow-list-enforced");
    const headers = { "x-forwarded-for": "203.0.113.7", origin: "null" };
    const refused = await sendRawRequest(agentUrl("office"), { key: organisation.adminKey, headers, from: proxy });
    expectRefusal(refused, 403);
    expect(JSON.stringify(refused.body)).toContain("sandboxed page");
  });

  test.each([
    ["another address", "203.0.113.8"],
    ["the address just below a range", "198.51.99.255"],
    ["the address just above a range", "198.51.101.0"],
    ["an IPv6 address next to a range", "2001:db8:2::1"],
    ["an IPv4 address that only looks like one of an IPv6 range", "32.1.13.184"],
    ["an address that is listed, but further from the proxy", "203.0.113.7, 203.0.113.8"],
    ["a name", "localhost"],
    ["a text that is no address", "203.0.113.7'--"],
    ["a short form of an address", "203.0.29"],
    ["an octal form of a listed address", "0313.0.0161.7"],
    ["a decimal form of a listed address", "3405803783"],
    ["a listed address with a port", "203.0.113.7:80"],
    ["a listed address in IPv4-compatible form", "::203.0.113.7"],
    ["a listed address in NAT64 form", "64:ff9b::203.0.113.7"],
    ["an empty header", " "],
    ["the unspecified address", "0.0.0.0"],
    ["a broadcast address", "255.255.255.255"],
    ["a range instead of an address", "203.0.113.0/24"],
    ["a very long header", Array(900).fill("1.2.3.4").join(",")],
  ])("403 for %s", async (_, forwarded) => {
    verifies("security.ip-allow-list-enforced");
    const headers = { "x-forwarded-for": forwarded };
    expectRefusal(await sendRawRequest(agentUrl("office"), { key: organisation.adminKey, headers, from: proxy }), 403);
  });

  test.each([
    ["X-Forwarded-For", { "x-forwarded-for": "203.0.113.7" }],
    ["Forwarded", { forwarded: "for=203.0.113.7" }],
    ["X-Real-IP", { "x-real-ip": "203.0.113.7" }],
    ["True-Client-IP", { "true-client-ip": "203.0.113.7" }],
    ["CF-Connecting-IP", { "cf-connecting-ip": "203.0.113.7" }],
    ["two X-Forwarded-For", { "x-forwarded-for": ["203.0.113.7", "203.0.113.7"] }],
    ["the proxy's own address in X-Forwarded-For", { "x-forwarded-for": `203.0.113.7, ${proxy}` }],
  ])("403 for an untrusted client that forges %s", async (_, headers) => {
    expectRefusal(
      await sendRawRequest(agentUrl("office"), { key: organisation.adminKey, headers, from: "127.0.0.2" }),
      403,
    );
  });

  test("an empty list refuses every client; a disabled list refuses none", async () => {
    expectRefusal(await sendRawRequest(agentUrl("nobody"), { key: organisation.adminKey }), 403);
    expect((await sendRawRequest(agentUrl("off"), { key: organisation.adminKey })).status).toBe(200);
  });

  test.each([
    ["GET", "/logs"],
    ["POST", "/invoke"],
    ["POST", "/pause"],
    ["PATCH", ""],
    ["DELETE", ""],
  ])("403 on every path of the agent: %s %s", async (method, path) => {
    expectRefusal(await sendRawRequest(agentUrl("nobody") + path, { method, key: organisation.adminKey }), 403);
  });

  test("applies to the agent by id and by name, and to no other agent", async () => {
    const { id } = (await createAgent("by-id", allowList("203.0.113.7"))).data;
    expectRefusal(await sendRawRequest(agentUrl(id), { key: organisation.adminKey }), 403);
    expect((await sendRawRequest(agentUrl("hsts"), { key: organisation.adminKey })).status).toBe(200);
  });

  test("409 for a list that excludes the caller, unless forced; an operator can reset it, except approvals", async () => {
    verifies("security.no-lock-out");
    await createAgent("careful", {});
    const approvals = { tools: ["refund"] };
    const target = {
      params: { agent_id: "careful" },
      body: { security: { ...allowList("203.0.113.7"), approvals } },
    };
    expect((await organisation.call("PATCH /v1/agents/{agent_id}", target)).status).toBe(409);
    expect((await sendRawRequest(agentUrl("careful"), { key: organisation.adminKey })).status).toBe(200);
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { ...target, query: { force: true } }));
    expectRefusal(await sendRawRequest(agentUrl("careful"), { key: organisation.adminKey }), 403);
    const { config, logger } = perch.server.core;
    const consoleLog = vi.spyOn(console, "log").mockImplementation(() => {});
    await runResetAgentSecurity(config, logger, ["--organisation", organisation.id, "--agent", "careful"]);
    consoleLog.mockRestore();
    // Without Valkey another process's change is seen within 2 s.
    await vi.waitFor(
      async () => expect((await sendRawRequest(agentUrl("careful"), { key: organisation.adminKey })).status).toBe(200),
      { timeout: 10_000, interval: 200 },
    );
    const { data } = ok(await organisation.call("GET /v1/agents/{agent_id}", { params: target.params }));
    expect(data.security).toEqual({ approvals });
    const created = { body: { name: "c2", model: "perch/echo", security: { enforceHttps: true } } };
    expect((await organisation.call("POST /v1/agents", created)).status).toBe(409);
  });
});

describe("HTTPS", () => {
  test("plain HTTP is refused, not redirected; HTTPS terminated by a trusted proxy is accepted", async () => {
    verifies("security.https-enforced", "service.https");
    const plain = await sendRawRequest(agentUrl("https"), { key: organisation.adminKey });
    expectRefusal(plain, 403);
    expect(plain.headers.location).toBeUndefined();
    expect((await sendRawRequest(agentUrl("hsts"), { key: organisation.adminKey })).status).toBe(200);
    const headers = { "x-forwarded-proto": "https" };
    expect((await sendRawRequest(agentUrl("https"), { key: organisation.adminKey, headers, from: proxy })).status).toBe(
      200,
    );
  });

  test.each([
    ["X-Forwarded-Proto of an untrusted client", "127.0.0.2", { "x-forwarded-proto": "https" }],
    ["Forwarded of an untrusted client", "127.0.0.2", { forwarded: "proto=https" }],
    ["X-Forwarded-Ssl of an untrusted client", "127.0.0.2", { "x-forwarded-ssl": "on" }],
    ["Front-End-Https of an untrusted client", "127.0.0.2", { "front-end-https": "on" }],
    ["a proxy that forwards http", proxy, { "x-forwarded-proto": "http" }],
    ["a client's https before the proxy's http", proxy, { "x-forwarded-proto": "https, http" }],
    ["a proxy that forwards no protocol", proxy, {}],
    ["a proxy that forwards an unknown protocol", proxy, { "x-forwarded-proto": "httpsx" }],
  ])("403 for %s", async (_, from, headers) => {
    expectRefusal(
      await sendRawRequest(agentUrl("https"), {
        key: organisation.adminKey,
        headers: headers as Record<string, string>,
        from,
      }),
      403,
    );
  });

  test("only responses over HTTPS have HSTS", async () => {
    verifies("security.hsts-enforced");
    const secure = { key: organisation.adminKey, headers: { "x-forwarded-proto": "https" }, from: proxy };
    const header = async (name: string, request: object) =>
      (await sendRawRequest(agentUrl(name), request)).headers["strict-transport-security"];
    expect(await header("hsts", secure)).toBe("max-age=600");
    expect(await header("hsts", { key: organisation.adminKey })).toBeUndefined();
    expect(await header("off", secure)).toBeUndefined();
  });
});

describe("the settings of the instance", () => {
  test("apply to every path, before the key is checked, and an agent's settings cannot loosen them", async () => {
    verifies("security.govern-rest-api");
    const strict = await start({
      ...allowList("203.0.113.0/24"),
      enforceHttps: true,
      hsts: { enabled: true, maxAge: 1000 },
    });
    const { adminKey: key } = await strict.createOrganisation();
    const inside = { "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https" };
    const at = (path: string, headers: Record<string, string>, method = "GET", body?: object) =>
      sendRawRequest(strict.url + path, { method, key, headers, from: proxy, body });
    for (const path of ["/v1/agents", "/v1/me", "/openapi.json", "/v1/nothing", "/docs", "/console/"]) {
      expectRefusal(await at(path, { ...inside, "x-forwarded-proto": "http" }), 403);
      expectRefusal(await at(path, { ...inside, "x-forwarded-for": "203.0.114.1" }), 403);
    }
    expectRefusal(await sendRawRequest(`${strict.url}/v1/agents`, {}), 403);
    expect((await at("/healthz", {})).status).toBe(200);
    const security = { ...allowList("0.0.0.0/0"), enforceHttps: false, hsts: { enabled: true, maxAge: 1 } };
    const made = await at("/v1/agents", inside, "POST", { name: "loose", model: "perch/echo", security });
    expect(made).toMatchObject({ status: 201, headers: { "strict-transport-security": "max-age=1000" } });
    expect((await at("/v1/agents/loose", inside)).headers["strict-transport-security"]).toBe("max-age=1000");
    expectRefusal(await at("/v1/agents/loose", { ...inside, "x-forwarded-for": "9.9.9.9" }), 403);
    await strict.stop();
  });
});
