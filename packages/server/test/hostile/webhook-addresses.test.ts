import { verifies } from "@perch/testkit/verifies.ts";
import { afterEach, describe, expect, test } from "vitest";
import { createGuardedClient, type Resolve } from "../../src/outbound/guarded-client.ts";
import { createUrlCheck } from "../../src/resources/webhooks/check-url.ts";
import { createPostEvent } from "../../src/resources/webhooks/post-event.ts";
import { expectError } from "../support/contract-client.ts";
import { closeAll, replyHello, resolveTo, startTestServer } from "../support/guarded-client-servers.ts";
import { usePerch } from "../support/harness.ts";

// The guard itself is the one that tools, remote agents and model providers go through: see guarded-client.test.ts.

const perch = usePerch();
afterEach(closeAll);

/** Addresses that an attacker might try, and their targets. */
const attempts: readonly (readonly [string, string])[] = [
  ["loopback", "https://127.0.0.1/"],
  ["loopback, another of its addresses", "https://127.8.8.8/"],
  ["loopback, short", "https://127.1/"],
  ["loopback in hexadecimal", "https://0x7f000001/"],
  ["loopback in hexadecimal parts", "https://0x7f.0x0.0x0.0x1/"],
  ["loopback as one number", "https://2130706433/"],
  ["loopback in octal", "https://0177.0.0.1/"],
  ["loopback as one octal number", "https://017700000001/"],
  ["loopback with a dot at the end", "https://127.0.0.1./"],
  ["loopback in wide digits", "https://１２７.０.０.１/"],
  ["loopback in circled digits", "https://①②⑦.⓪.⓪.①/"],
  ["loopback, percent-encoded", "https://%31%32%37.0.0.1/"],
  ["loopback on another port", "https://127.0.0.1:8443/"],
  ["loopback by name", "https://localhost/"],
  ["loopback by name in capitals", "https://LOCALHOST:8443/"],
  ["this host", "https://0.0.0.0/"],
  ["this host, short", "https://0/"],
  ["a private network, class A", "https://10.0.0.1/"],
  ["a private network, short", "https://10.1/"],
  ["a private network, class B", "https://172.16.0.1/"],
  ["a private network, the end of class B", "https://172.31.255.254/"],
  ["a private network, class C", "https://192.168.1.1/"],
  ["shared addresses of a carrier", "https://100.64.0.1/"],
  ["metadata of most clouds", "https://169.254.169.254/latest/meta-data/"],
  ["metadata as one number", "https://2852039166/"],
  ["metadata in hexadecimal", "https://0xa9fea9fe/"],
  ["metadata in octal", "https://0251.0376.0251.0376/"],
  ["metadata of containers", "https://169.254.170.2/v2/credentials"],
  ["metadata of Alibaba", "https://100.100.100.200/"],
  ["metadata of Oracle", "https://192.0.0.192/"],
  ["Azure's host", "https://168.63.129.16/"],
  ["a network for benchmarks", "https://198.18.0.1/"],
  ["multicast", "https://224.0.0.1/"],
  ["broadcast", "https://255.255.255.255/"],
  ["reserved", "https://240.0.0.1/"],
  ["documentation", "https://192.0.2.1/"],
  ["IPv6 loopback", "https://[::1]/"],
  ["IPv6 unspecified", "https://[::]/"],
  ["mapped loopback", "https://[::ffff:127.0.0.1]/"],
  ["mapped loopback in hexadecimal", "https://[::ffff:7f00:1]/"],
  ["mapped metadata", "https://[::ffff:a9fe:a9fe]/"],
  ["compatible loopback", "https://[::127.0.0.1]/"],
  ["NAT64 of metadata", "https://[64:ff9b::a9fe:a9fe]/"],
  ["6to4 of loopback", "https://[2002:7f00:1::]/"],
  ["IPv6 link-local", "https://[fe80::1]/"],
  ["IPv6 private", "https://[fd12:3456::1]/"],
  ["IPv6 metadata of AWS", "https://[fd00:ec2::254]/"],
  ["IPv6 multicast", "https://[ff02::1]/"],
  ["a user name that looks like the host", "https://hooks.example@127.0.0.1/"],
  ["a user name and a password", "https://user:password@8.8.8.8/"],
  ["a backslash before the host", "https://127.0.0.1\\@hooks.example/"],
  ["a fragment after the host", "https://127.0.0.1#@hooks.example/"],
  ["the port of SSH", "https://8.8.8.8:22/"],
  ["the port of mail", "https://8.8.8.8:25/"],
  ["plain http", "http://8.8.8.8/"],
  ["plain http to loopback", "http://127.0.0.1:8080/"],
  ["plain http to metadata", "http://169.254.169.254/latest/meta-data/"],
  ["a file", "file:///etc/passwd"],
  ["another protocol", "gopher://127.0.0.1:6379/_INFO"],
];

test("the list has at least forty addresses", () => {
  expect(attempts.length).toBeGreaterThanOrEqual(40);
  expect(new Set(attempts.map(([, url]) => url)).size).toBe(attempts.length);
});

describe("an address that is not public", () => {
  test.each(attempts)("400 at creation: %s (%s)", async (_, url) => {
    verifies("webhooks.url-https");
    const { call } = await perch().createOrganisation();
    const answer = await call("POST /v1/webhooks", { body: { url, events: ["agent.failed"] } });
    expect(expectError(answer, "invalid_request").details).toMatchObject([{ field: "url", error: expect.any(String) }]);
  });

  test.each(attempts)("no connection is attempted at delivery: %s (%s)", async (_, url) => {
    const client = createGuardedClient({ allowedRanges: [], timeoutMs: 2000 });
    const post = createPostEvent({ fetch: client.fetch, allowHttp: false, timeoutSeconds: 2, now: Date.now });
    expect(await post({ url, headers: {}, body: "{}" })).toMatchObject({ kind: "blocked", statusCode: null });
    await client.close();
  });
});

describe("a host name", () => {
  const createPoster = (resolve: Resolve) => {
    // The operator allows loopback here, so that a refusal can only come from the resolved address.
    const client = createGuardedClient({ allowedRanges: ["127.0.0.1"], timeoutMs: 2000, resolve });
    return createPostEvent({ fetch: client.fetch, allowHttp: false, timeoutSeconds: 2, now: Date.now });
  };
  const createCheck = (resolve: Resolve) => createUrlCheck({ allowHttp: false, allowedRanges: [], resolve });

  test.each([
    ["to loopback", ["127.0.0.1"]],
    ["to metadata", ["169.254.169.254"]],
    ["to a private and a public address", ["8.8.8.8", "10.0.0.1"]],
    ["to a mapped address", ["::ffff:10.0.0.1"]],
  ])("that resolves %s is refused at creation", async (_, addresses) => {
    await expect(createCheck(resolveTo(...addresses))("https://hooks.example/")).rejects.toMatchObject({
      code: "invalid_request",
      details: [{ field: "url", error: expect.stringMatching(/PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES/) }],
    });
  });

  test("that does not resolve can be registered; the delivery log shows the failure", async () => {
    const unknown: Resolve = () => Promise.reject(new Error("ENOTFOUND"));
    await expect(createCheck(unknown)("https://hooks.example/")).resolves.toBeUndefined();
    await expect(createCheck(resolveTo("8.8.8.8"))("https://hooks.example/")).resolves.toBeUndefined();
  });

  test("that was public at creation and is private at delivery is refused without a connection", async () => {
    const inside = await startTestServer(replyHello, "127.0.0.2");
    let asked = 0;
    const rebinding: Resolve = async () => [{ address: asked++ === 0 ? "8.8.8.8" : "127.0.0.2", family: 4 }];
    const url = `https://hooks.example:${inside.port}/`;
    await expect(createCheck(rebinding)(url)).resolves.toBeUndefined();
    const attempt = await createPoster(rebinding)({ url, headers: {}, body: "{}" });
    expect(attempt).toMatchObject({ kind: "blocked", error: expect.stringMatching(/private or reserved address/) });
    expect(asked).toBe(2);
    expect(inside.connectedAddresses).toEqual([]);
  });

  test("is resolved once for each connection, so that the checked address is the one that is connected to", async () => {
    const [checked, other] = [
      await startTestServer(replyHello, "127.0.0.1"),
      await startTestServer(replyHello, "127.0.0.2"),
    ];
    let asked = 0;
    const flipping: Resolve = async () => [{ address: asked++ === 0 ? "127.0.0.1" : "127.0.0.2", family: 4 }];
    // The server speaks plain HTTP, so the TLS handshake fails after the connection is established.
    const attempt = await createPoster(flipping)({
      url: `https://hooks.example:${checked.port}/`,
      headers: {},
      body: "{}",
    });
    expect(attempt.kind).toBe("unreachable");
    expect(asked).toBe(1);
    expect(checked.connectedAddresses).toEqual(["127.0.0.1"]);
    expect(other.connectedAddresses).toEqual([]);
  });
});

test("a redirect to a private address is not followed, whatever its status", async () => {
  const inside = await startTestServer(replyHello);
  for (const status of [301, 302, 303, 307, 308]) {
    const outside = await startTestServer((_, reply) => void reply.writeHead(status, { location: inside.url }).end());
    const client = createGuardedClient({ allowedRanges: ["127.0.0.1"], timeoutMs: 2000 });
    const post = createPostEvent({ fetch: client.fetch, allowHttp: true, timeoutSeconds: 2, now: Date.now });
    const attempt = await post({ url: outside.url, headers: {}, body: "{}" });
    expect(attempt).toMatchObject({
      kind: "http_error",
      statusCode: status,
      error: expect.stringMatching(/not followed/),
    });
    await client.close();
  }
  expect(inside.connectedAddresses).toEqual([]);
});
