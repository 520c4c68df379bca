import { gzipSync } from "node:zlib";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterEach, describe, expect, test } from "vitest";
import {
  closeAll,
  createTestClient,
  loopback,
  rejectionReason,
  replyHello,
  resolveTo,
  startTestServer,
} from "../../test/support/guarded-client-servers.ts";
import { RefusedAddressError } from "./address-guard.ts";
import { createTrustedClient, ResponseTooLargeError } from "./guarded-client.ts";

afterEach(closeAll);

describe("address checks", () => {
  test.each([
    "127.0.0.1",
    "127.0.0.1.",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "127.1",
    "0",
    "１２７.0.0.1",
    "169.254.169.254",
    "10.0.0.1",
    "192.168.0.1",
    "100.64.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "198.18.0.1",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[fe80::1]",
    "[fd00::1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[2001::1]",
    "[ff02::1]",
  ])("refuses the non-public address literal %s", async (host) => {
    verifies("outbound.guarded");
    const { port, connectedAddresses } = await startTestServer(replyHello);
    for (const protocol of ["http", "https"]) {
      const error = await rejectionReason(createTestClient().fetch(`${protocol}://${host}:${port}/`));
      expect(error).toBeInstanceOf(RefusedAddressError);
    }
    expect(connectedAddresses).toEqual([]);
  });

  test.each([
    "127.0.0.1",
    "169.254.169.254",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.0.1",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "198.18.0.1",
    "203.0.113.1",
    "::1",
    "::",
    "::ffff:127.0.0.1",
    "::127.0.0.1",
    "fe80::1%lo",
    "fd00::1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2001::1",
    "ff02::1",
  ])("refuses a name that resolves to %s", async (address) => {
    const { port, connectedAddresses } = await startTestServer(replyHello);
    for (const protocol of ["http", "https"]) {
      const error = await rejectionReason(
        createTestClient({ resolve: resolveTo(address) }).fetch(`${protocol}://name.test:${port}/`),
      );
      expect(error).toBeInstanceOf(RefusedAddressError);
    }
    expect(connectedAddresses).toEqual([]);
  });

  test("refuses localhost with the system resolver", async () => {
    const { port, connectedAddresses } = await startTestServer(replyHello);
    expect(await rejectionReason(createTestClient().fetch(`http://localhost:${port}/`))).toBeInstanceOf(
      RefusedAddressError,
    );
    expect(connectedAddresses).toEqual([]);
  });

  test.each([[["127.0.0.1", "10.0.0.1"]], [["10.0.0.1", "127.0.0.1"]], [["127.0.0.1", "::1"]]])(
    "refuses a name if any of its addresses is refused: %j",
    async (addresses) => {
      const { port, connectedAddresses } = await startTestServer(replyHello);
      const { fetch } = createTestClient({ allowedRanges: loopback, resolve: resolveTo(...addresses) });
      expect(await rejectionReason(fetch(`http://name.test:${port}/`))).toBeInstanceOf(RefusedAddressError);
      expect(connectedAddresses).toEqual([]);
    },
  );

  test("a name that resolves to another address later never reaches the private one", async () => {
    verifies("outbound.guarded");
    // 127.0.0.1 plays the public address, the rest of 127.0.0.0/8 the private network.
    const { port, connectedAddresses } = await startTestServer(
      (_, reply) => void reply.setHeader("connection", "close").end("hello"),
      "0.0.0.0",
    );
    const resolvedNames: string[] = [];
    const { fetch } = createTestClient({
      allowedRanges: loopback,
      resolve: async (name) => {
        resolvedNames.push(name);
        return [{ address: resolvedNames.length === 1 ? "127.0.0.1" : "127.0.0.2", family: 4 }];
      },
    });
    expect(await (await fetch(`http://name.test:${port}/`)).text()).toBe("hello");
    expect(resolvedNames).toEqual(["name.test"]);
    expect(await rejectionReason(fetch(`http://name.test:${port}/`))).toBeInstanceOf(RefusedAddressError);
    expect(connectedAddresses).toEqual(["127.0.0.1"]);
  });

  test("a Host header does not bypass the address check", async () => {
    const { port, connectedAddresses, url } = await startTestServer(replyHello);
    const headers = { host: "public.test" };
    const { fetch } = createTestClient({ resolve: resolveTo("127.0.0.1") });
    expect(await rejectionReason(fetch(url, { headers }))).toBeInstanceOf(RefusedAddressError);
    expect(await rejectionReason(fetch(`http://name.test:${port}/`, { headers }))).toBeInstanceOf(RefusedAddressError);
    expect(connectedAddresses).toEqual([]);
  });

  test("ranges that the operator allows can be called, by address and by name", async () => {
    const { port, url } = await startTestServer(replyHello);
    const { fetch } = createTestClient({ allowedRanges: ["127.0.0.0/8"], resolve: resolveTo("127.0.0.1") });
    expect(await (await fetch(url)).text()).toBe("hello");
    expect(await (await fetch(`http://name.test:${port}/`)).text()).toBe("hello");
  });

  test("the error names the host and the setting, but not the resolved address", async () => {
    const { fetch } = createTestClient({ resolve: resolveTo("10.11.12.13") });
    expect(await rejectionReason(fetch("http://name.test/path?secret=1"))).toMatchObject({
      message:
        "name.test is, or resolves to, a private or reserved address, which this server does not call. " +
        "An operator can allow it with PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES, " +
        "unless it belongs to Perch itself or to a cloud's metadata service.",
    });
  });

  test("other network errors are passed on unchanged", async () => {
    const unknown = Object.assign(new Error("getaddrinfo ENOTFOUND name.test"), { code: "ENOTFOUND" });
    const unresolvable = createTestClient({ resolve: () => Promise.reject(unknown) });
    expect(await rejectionReason(unresolvable.fetch("http://name.test/"))).toMatchObject({
      message: "fetch failed",
      cause: unknown,
    });
    expect(await rejectionReason(createTestClient({ resolve: resolveTo() }).fetch("http://name.test/"))).toMatchObject({
      cause: { message: "name.test has no address" },
    });
    const { server, url } = await startTestServer(replyHello);
    server.close();
    const refused = await rejectionReason(createTestClient({ allowedRanges: loopback }).fetch(url));
    expect(refused).toMatchObject({ message: "fetch failed", cause: { code: "ECONNREFUSED" } });
  });

  test.each(["file:///etc/passwd", "ftp://name.test/", "data:text/plain,hello", "ws://name.test/"])(
    "only http and https are allowed: %s is refused",
    async (url) => {
      expect(await rejectionReason(createTestClient().fetch(url))).toBeInstanceOf(RefusedAddressError);
    },
  );

  test.each(["http://user:secret@name.test/", "http://user@name.test/", "http://:secret@name.test/"])(
    "credentials in a URL are refused, and do not appear in the error: %s",
    async (url) => {
      const { fetch } = createTestClient();
      for (const call of [fetch(url), fetch(url, { method: "POST", body: new FormData() })]) {
        const error = await rejectionReason(call);
        expect(error).toBeInstanceOf(RefusedAddressError);
        expect(String(error)).toContain("name.test");
        expect(String(error)).not.toMatch(/secret|user@/);
      }
    },
  );
});

describe("redirects", () => {
  const startRedirectingServer = async () => {
    const inside = await startTestServer(replyHello);
    const outside = await startTestServer(
      (_, reply) => void reply.writeHead(307, { location: inside.url }).end("elsewhere"),
    );
    return { inside, outside };
  };

  test.each([undefined, "follow", "manual"] as const)(
    "are returned to the caller, not followed, with redirect: %s",
    async (redirect) => {
      verifies("outbound.guarded");
      const { inside, outside } = await startRedirectingServer();
      for (const client of [createTestClient({ allowedRanges: loopback }), createTrustedClient()]) {
        const response = await client.fetch(outside.url, redirect && { redirect });
        expect([response.status, response.headers.get("location"), await response.text()]).toEqual([
          307,
          inside.url,
          "elsewhere",
        ]);
        await client.close();
      }
      expect(inside.connectedAddresses).toEqual([]);
    },
  );

  test('throw with redirect: "error"', async () => {
    const { inside, outside } = await startRedirectingServer();
    const { fetch } = createTestClient({ allowedRanges: loopback });
    for (const call of [
      fetch(outside.url, { redirect: "error" }),
      fetch(new Request(outside.url, { redirect: "error" })),
    ]) {
      expect(await rejectionReason(call)).toBeInstanceOf(TypeError);
    }
    expect(inside.connectedAddresses).toEqual([]);
  });
});

describe("the response size limit", () => {
  const maxResponseBytes = 100_000;
  const limited = () => createTestClient({ allowedRanges: loopback, maxResponseBytes });

  test("allows a body of exactly the limit, even if compression made it longer", async () => {
    const { url } = await startTestServer(({ url }, reply) => {
      const body = Buffer.alloc(maxResponseBytes, "x");
      if (url === "/") reply.end(body);
      else reply.setHeader("content-encoding", "gzip").end(gzipSync(body, { level: 0 }));
    });
    const { fetch } = limited();
    for (const path of ["", "stored"]) expect((await (await fetch(url + path)).bytes()).length).toBe(maxResponseBytes);
  });

  test("fails a longer body, and closes its connection", async () => {
    const closed = Promise.withResolvers<void>();
    const { url } = await startTestServer((_, reply) => {
      reply.on("close", () => closed.resolve());
      // One byte too many, and no end: only the client can close this.
      reply.write(Buffer.alloc(maxResponseBytes));
      reply.write("x");
    });
    const response = await limited().fetch(url);
    let received = 0;
    const reading = (async () => {
      for await (const chunk of response.body ?? []) received += chunk.byteLength;
    })();
    expect(await rejectionReason(reading)).toBeInstanceOf(ResponseTooLargeError);
    expect(received).toBeGreaterThan(0);
    expect(received).toBeLessThanOrEqual(maxResponseBytes);
    await closed.promise;
  });

  test("fails a line of more than 5 MiB, however much the body may have", async () => {
    const line = Buffer.alloc(3 * 1024 * 1024, "x");
    const { url } = await startTestServer(({ url: path }, reply) => {
      reply.write(line);
      if (path === "/lines") reply.write("\n");
      reply.end(line);
    });
    const client = createTrustedClient();
    expect((await (await client.fetch(`${url}lines`)).bytes()).length).toBe(2 * line.length + 1);
    const reason = await rejectionReason((await client.fetch(url)).text());
    expect(reason).toBeInstanceOf(ResponseTooLargeError);
    expect(String(reason)).toContain("A line of the response is larger than the limit of 5242880 bytes.");
    await client.close();
  });

  test("applies to the decompressed body", async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    expect(bomb.length).toBeLessThan(maxResponseBytes);
    const { url } = await startTestServer((_, reply) => void reply.setHeader("content-encoding", "gzip").end(bomb));
    for (const read of ["text", "json", "arrayBuffer", "bytes"] as const) {
      const response = await limited().fetch(url);
      expect(await rejectionReason(response[read]())).toBeInstanceOf(ResponseTooLargeError);
    }
  });

  test("ends an endless compressed body that decompresses to nothing", async () => {
    const nothing = Buffer.concat(Array(2000).fill(gzipSync("")));
    const { url } = await startTestServer((_, reply) => {
      reply.setHeader("content-encoding", "gzip");
      const more = setInterval(() => reply.write(nothing), 1);
      reply.on("close", () => clearInterval(more));
    });
    const response = await limited().fetch(url);
    expect(await rejectionReason(response.text())).toBeInstanceOf(ResponseTooLargeError);
  });
});
