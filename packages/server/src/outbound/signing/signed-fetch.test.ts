import { startMcpServer } from "@perch/testkit/servers/mcp-server.ts";
import { type HttpToolCall, startToolServer, type TestServer } from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, describe, expect, test } from "vitest";
import { createRedactor } from "../../../test/support/create-redactor.ts";
import { noSecrets } from "../../../test/support/no-secrets.ts";
import { type Jwk, type ReceivedRequest, verifySignature } from "../../../test/support/verify-signature.ts";
import { newUuid, toPublicId } from "../../platform/ids.ts";
import { createKeyPair } from "../../platform/signing-key.ts";
import { createGuardedClient } from "../guarded-client.ts";
import { createCallRemoteAgent } from "../models/remote-agent.ts";
import { createResolveCall } from "../secrets/resolve-call.ts";
import type { HttpTarget } from "../tools/tool.ts";
import { createTools } from "../tools/tools.ts";
import { buildKeyDirectory } from "./key-directory.ts";
import { createSignedFetch } from "./signed-fetch.ts";

const key = { ...createKeyPair(), signsFromMs: 0, retiresAtMs: null };
const { keys } = JSON.parse(buildKeyDirectory([key], undefined, 0).body) as { keys: Jwk[] };
const directoryUrl = "https://perch.example/.well-known/http-message-signatures-directory";
const guarded = createGuardedClient({ allowedRanges: ["127.0.0.0/8"] });
const signedFetch = createSignedFetch({ fetch: guarded.fetch, signingKey: () => key, directoryUrl, now: Date.now });
const deps = { ...noSecrets, fetch: signedFetch, version: "1.2.3" };
const tools = createTools(deps);
const opened: TestServer[] = [];
afterAll(() => Promise.all([guarded.close(), ...opened.map((server) => server.close())]));

const opening = async <Server extends TestServer>(started: Promise<Server>): Promise<Server> => {
  const server = await started;
  opened.push(server);
  return server;
};

const signal = () => AbortSignal.timeout(10_000);
const trace = { traceId: "0af7651916cd43dd8448eb211c80319c", parentId: "b7ad6b7169203331" };
const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const context = () => ({ ...noSecrets, idempotencyKey: "req_1-1.1", requestId: "req_1", trace, signal: signal() });
const received = (server: TestServer, call: HttpToolCall | undefined): ReceivedRequest => {
  if (!call) throw new Error("nothing was received");
  return { ...call, url: new URL(server.url).origin + call.path };
};

const agentId = toPublicId("agent", noSecrets.owner.agentId);
const whose = {
  "perch-organisation": toPublicId("organisation", noSecrets.owner.organisationId),
  "perch-agent": agentId,
};
const ofAny = ['"@method"', '"@target-uri"', '"content-digest"'];
const caller = ['"perch-organisation"', '"perch-agent"', '"signature-agent";key="perch"'];
const covered = [...ofAny, '"x-request-id"', ...caller];
const callHttp = (target: Omit<HttpTarget, "kind">, args: object) =>
  tools.call(
    { definition: { name: "book", description: "", parameters: {} }, target: { kind: "http", ...target } },
    args,
    context(),
  );

describe("each kind of request verifies with a verifier that shares no code with the server", () => {
  test.each(["GET", "POST", "PUT", "PATCH", "DELETE"] as const)("an HTTP tool, %s", async (method) => {
    verifies("security.signed-calls", "security.calls-carry-trace");
    const server = await opening(startToolServer());
    const result = await callHttp(
      { method, url: `${server.url}/rooms/{room}?fixed=1` },
      { room: "a b/é", to: "ü&x=1" },
    );
    expect(result.failed).toBe(false);
    const request = received(server, server.calls[0]);
    const { components, created, expires } = verifySignature(request, keys);
    expect(components).toEqual(covered);
    expect(Math.abs(created - Date.now() / 1000)).toBeLessThan(10);
    expect(expires - created).toBe(300);
    expect(request.headers).toMatchObject({
      "signature-agent": `perch="${directoryUrl}"`,
      "x-request-id": "req_1",
      ...whose,
      traceparent,
    });
  });

  test.each([
    { sessions: false, json: true },
    { sessions: true, json: false },
  ])("an MCP server, listed and called: %j", async (options) => {
    const server = await opening(startMcpServer(options));
    const shop = { type: "mcp" as const, name: "shop", url: server.url };
    const [lookup] = await tools.list([shop], noSecrets.owner, signal(), { requestId: "req_1", trace });
    if (!lookup) throw new Error("no tool was listed");
    const listed = server.requests.length;
    expect(await tools.call(lookup, { id: "é" }, context())).toMatchObject({ failed: false });
    expect(listed).toBeGreaterThan(1);
    expect(server.requests.length).toBeGreaterThan(listed);
    const signatures = server.requests.map((request) =>
      verifySignature({ ...request, url: new URL(server.url).origin + request.path }, keys),
    );
    for (const { components } of signatures) expect(components).toEqual(covered);
    expect(new Set(signatures.map(({ nonce }) => nonce)).size).toBe(signatures.length);
    for (const { headers } of server.requests)
      expect(headers).toMatchObject({ "x-request-id": "req_1", ...whose, traceparent });
  });

  test("an MCP server in a preflight, which belongs to no run", async () => {
    const server = await opening(startMcpServer());
    await tools.list([{ type: "mcp", name: "shop", url: server.url }], noSecrets.owner, signal());
    for (const request of server.requests) {
      const { components } = verifySignature({ ...request, url: new URL(server.url).origin + request.path }, keys);
      expect(components).toEqual([...ofAny, ...caller]);
      expect(request.headers).toMatchObject(whose);
      expect(request.headers.traceparent).toBeUndefined();
    }
  });

  test("a remote agent", async () => {
    const server = await opening(startToolServer(() => ({ body: { response: "hi" } })));
    await createCallRemoteAgent(deps)(`${server.url}/agent?token=a%20b`, {
      owner: noSecrets.owner,
      requestId: "req_1",
      agentId,
      message: "hello ü",
      context: { userId: null, sessionId: null, environment: "production" },
      history: [],
      memories: [],
      trace,
      signal: signal(),
      onText: () => undefined,
    });
    const request = received(server, server.calls[0]);
    expect(verifySignature(request, keys).components).toEqual(covered);
    expect(request.headers).toMatchObject({ ...whose, traceparent });
    // The body and the signature name the same agent.
    expect(JSON.parse(request.body)).toMatchObject({ agent_id: whose["perch-agent"] });
  });
});

describe("a signature fits only one request", () => {
  const signed = async () => {
    const server = await opening(startToolServer());
    await callHttp({ method: "POST", url: `${server.url}/pay` }, { amount: 1 });
    return received(server, server.calls[0]);
  };
  const withHeader = (request: ReceivedRequest, name: string, change: (value: string) => string) => ({
    ...request,
    headers: { ...request.headers, [name]: change(String(request.headers[name])) },
  });

  test("what was not altered verifies", async () => {
    expect(verifySignature(await signed(), keys).keyid).toBe(key.keyId);
  });

  test.each<[string, (request: ReceivedRequest) => ReceivedRequest]>([
    ["method", (request) => ({ ...request, method: "PUT" })],
    ["path", (request) => ({ ...request, url: `${request.url}s` })],
    ["query", (request) => ({ ...request, url: `${request.url}?a=1` })],
    ["host", (request) => ({ ...request, url: request.url.replace("127.0.0.1", "localhost") })],
    ["body", (request) => ({ ...request, body: '{"amount":2}' })],
    ["run", (request) => withHeader(request, "x-request-id", () => "req_2")],
    [
      "organisation",
      (request) => withHeader(request, "perch-organisation", () => toPublicId("organisation", newUuid())),
    ],
    ["agent", (request) => withHeader(request, "perch-agent", () => toPublicId("agent", newUuid()))],
    ["directory", (request) => withHeader(request, "signature-agent", () => 'perch="https://evil.example/keys"')],
    ["time", (request) => withHeader(request, "signature-input", (text) => text.replace(/created=\d/, "created=9"))],
    ["expiry", (request) => withHeader(request, "signature-input", (text) => text.replace(/expires=\d/, "expires=9"))],
    ["nonce", (request) => withHeader(request, "signature-input", (text) => text.replace(/nonce="/, 'nonce="-'))],
    ["key", (request) => withHeader(request, "signature-input", (text) => text.replace(/keyid="/, 'keyid="-'))],
  ])("another %s does not", async (_, alter) => {
    const request = await signed();
    expect(() => verifySignature(alter(request), keys)).toThrow();
  });
});

test("a call with secrets is signed as it is sent, and its signature shows none of them", async () => {
  const server = await opening(startToolServer());
  const value = "s3cret value+/=&";
  const origins = [new URL(server.url).origin];
  const resolveCall = createResolveCall({
    createRedactor,
    findSecrets: async () => new Map([["token", { value, origins }]]),
    onRefused: () => undefined,
  });
  const secretTools = createTools({ ...deps, resolveCall });
  const target = {
    kind: "http" as const,
    method: "GET" as const,
    url: `${server.url}/rooms`,
    headers: { authorization: "Bearer {{secret.token}}" },
    query: { key: "{{secret.token}}" },
  };
  const result = await secretTools.call(
    { definition: { name: "book", description: "", parameters: {} }, target },
    { room: 1 },
    context(),
  );
  expect(result.failed).toBe(false);
  const request = received(server, server.calls[0]);
  expect(new URL(request.url).searchParams.get("key")).toBe(value);
  expect(request.headers.authorization).toBe(`Bearer ${value}`);
  expect(verifySignature(request, keys).components).toEqual(covered);
  expect(`${request.headers["signature-input"]} ${request.headers.signature}`).not.toContain("s3cret");
});

test("every attempt has a nonce of its own", async () => {
  const server = await opening(startToolServer());
  for (let i = 0; i < 20; i += 1) await callHttp({ method: "POST", url: server.url }, { same: true });
  const nonces = server.calls.map((call) => verifySignature(received(server, call), keys).nonce);
  expect(new Set(nonces).size).toBe(20);
  for (const nonce of nonces) expect(nonce).toMatch(/^[\w-]{43}$/);
});

test("what a caller gives of these headers is replaced, and none is sent without a directory", async () => {
  const server = await opening(startToolServer());
  const fetch = createSignedFetch({
    fetch: guarded.fetch,
    signingKey: () => key,
    directoryUrl: undefined,
    now: Date.now,
  });
  const forged = { Signature: "x", "Signature-Input": "x", "Signature-Agent": "x", "Content-Digest": "x" };
  await fetch(`${server.url}/#fragment`, { method: "POST", headers: forged, body: new TextEncoder().encode("ü") });
  const request = received(server, server.calls[0]);
  expect(request.headers["signature-agent"]).toBeUndefined();
  expect(verifySignature(request, keys).components).toEqual(ofAny);
});

test("a body that cannot be digested before it is sent is refused, and nothing is sent", async () => {
  const server = await opening(startToolServer());
  const body = new ReadableStream({ start: (controller) => controller.close() });
  await expect(async () => signedFetch(server.url, { method: "POST", body, duplex: "half" })).rejects.toThrow(
    "cannot be digested",
  );
  expect(server.calls).toEqual([]);
});
