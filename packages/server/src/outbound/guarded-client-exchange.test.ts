import { spawn } from "node:child_process";
import { text as readText } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from "undici";
import { afterEach, describe, expect, test } from "vitest";
import {
  closeAll,
  createTestClient,
  loopback,
  rejectionReason,
  replyHello,
  startTestServer,
} from "../../test/support/guarded-client-servers.ts";
import { createTrustedClient } from "./guarded-client.ts";

afterEach(closeAll);

/** A server that sends headers and one chunk, and then nothing; `clientClosed` resolves when the client disconnects. */
async function startStalledServer() {
  const clientClosed = Promise.withResolvers<void>();
  const server = await startTestServer((request, reply) => {
    reply.on("close", () => clientClosed.resolve());
    if (request.url === "/") reply.write("one");
  });
  return { ...server, clientClosed: clientClosed.promise };
}

describe("timeouts and cancellation", () => {
  test("a body that never ends fails at the time limit, and its connection is closed", async () => {
    const { url, clientClosed } = await startStalledServer();
    const response = await createTestClient({ allowedRanges: loopback, timeoutMs: 1000 }).fetch(url);
    expect(await rejectionReason(response.text())).toMatchObject({ name: "TimeoutError" });
    await clientClosed;
  });

  test("a response that never starts fails at the time limit", async () => {
    const { url, clientClosed } = await startStalledServer();
    // Long enough for the request to arrive, also on a busy machine: otherwise there is nothing to close.
    const { fetch } = createTestClient({ allowedRanges: loopback, timeoutMs: 1000 });
    expect(await rejectionReason(fetch(`${url}never`))).toMatchObject({ name: "TimeoutError" });
    await clientClosed;
  });

  test("a DNS lookup that never ends fails at the time limit", async () => {
    const { fetch } = createTestClient({ resolve: () => new Promise(() => undefined), timeoutMs: 150 });
    expect(await rejectionReason(fetch("http://name.test/"))).toMatchObject({ name: "TimeoutError" });
  });

  test("the caller's signal aborts the exchange: before it starts, before the response and during the body", async () => {
    const { url, clientClosed } = await startStalledServer();
    const { fetch } = createTestClient({ allowedRanges: loopback });
    const reason = new Error("enough");
    expect(await rejectionReason(fetch(url, { signal: AbortSignal.abort(reason) }))).toBe(reason);

    const early = new AbortController();
    const call = fetch(`${url}never`, { signal: early.signal });
    setTimeout(() => early.abort(reason), 30);
    expect(await rejectionReason(call)).toBe(reason);
    await clientClosed;

    const late = new AbortController();
    const response = await fetch(url, { signal: late.signal });
    setTimeout(() => late.abort(reason), 30);
    expect(await rejectionReason(response.text())).toBe(reason);
  });

  test("a finished exchange leaves no timer, and no listener on the caller's signal", async () => {
    const { url } = await startTestServer((request, reply) => {
      if (request.url === "/none") reply.statusCode = 204;
      reply.end("hello");
    });
    const { fetch } = createTestClient({ allowedRanges: loopback });
    const signal = new AbortController().signal;
    let listeners = 0;
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listeners += 1;
      addEventListener.apply(signal, args);
    };
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listeners -= 1;
      removeEventListener.apply(signal, args);
    };
    let cleared = 0;
    const { clearTimeout } = globalThis;
    globalThis.clearTimeout = (timer) => {
      cleared += 1;
      clearTimeout(timer);
    };
    try {
      await (await fetch(url, { signal })).text();
      await (await fetch(url, { signal })).body?.cancel();
      await fetch(`${url}none`, { signal });
      await rejectionReason(fetch("http://10.0.0.1/", { signal }));
    } finally {
      globalThis.clearTimeout = clearTimeout;
    }
    expect(listeners).toBe(0);
    expect(cleared).toBeGreaterThanOrEqual(4);
  });
});

describe("responses", () => {
  test("are streamed: events arrive one by one, as they are sent", async () => {
    const next: (() => void)[] = [];
    const { url } = await startTestServer((_, reply) => {
      reply.setHeader("content-type", "text/event-stream");
      reply.flushHeaders();
      next.push(
        () => reply.write("data: 1\n\n"),
        () => reply.write("data: 2\n\n"),
        () => reply.end(),
      );
    });
    const response = await createTestClient({ allowedRanges: loopback }).fetch(url);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (const expected of ["data: 1\n\n", "data: 2\n\n"]) {
      const reading = reader?.read();
      next.shift()?.();
      expect(await reading).toEqual({ done: false, value: expected });
    }
    next.shift()?.();
    expect(await reader?.read()).toEqual({ done: true, value: undefined });
  });

  test("are instances of the global Response, with status, headers and body", async () => {
    const { url } = await startTestServer((_, reply) => {
      reply.writeHead(
        418,
        "Teapot",
        [
          ["set-cookie", "a=1"],
          ["set-cookie", "b=2"],
          ["content-type", "application/json"],
        ].flat(),
      );
      reply.end('{"a":1}');
    });
    const response = await createTestClient({ allowedRanges: loopback }).fetch(new URL(url));
    expect(response).toBeInstanceOf(Response);
    expect([response.status, response.statusText, response.ok, response.url]).toEqual([418, "Teapot", false, url]);
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(await response.clone().text()).toBe('{"a":1}');
    expect(await response.json()).toEqual({ a: 1 });
  });

  test("with a status text that is not ASCII are passed on without it", async () => {
    const { url } = await startTestServer((_, reply) => void reply.writeHead(200, "gr\u00fcn").end("hello"));
    const response = await createTestClient({ allowedRanges: loopback }).fetch(url);
    expect([response.status, response.statusText, await response.text()]).toEqual([200, "gr?n", "hello"]);
  });

  test("have a null body after 204 and HEAD", async () => {
    const { url } = await startTestServer((_, reply) => void reply.writeHead(204).end());
    const { fetch } = createTestClient({ allowedRanges: loopback });
    expect((await fetch(url)).body).toBeNull();
    expect((await fetch(url, { method: "HEAD" })).body).toBeNull();
  });

  test("with an invalid status are an error, and their connection is closed", async () => {
    const closed = Promise.withResolvers<void>();
    const { url } = await startTestServer((_, reply) => {
      reply.on("close", () => closed.resolve());
      reply.writeHead(999).write("hello");
    });
    expect(await rejectionReason(createTestClient({ allowedRanges: loopback }).fetch(url))).toBeInstanceOf(RangeError);
    await closed.promise;
  });
});

describe("requests", () => {
  const echo = () =>
    startTestServer((request, reply) => {
      const { method, headers } = request;
      const { "content-type": type, "content-length": length, "x-mark": mark } = headers;
      void readText(request).then((body) => reply.end(JSON.stringify({ method, type, length, mark, body })));
    });

  test("send method, headers and body as given, including a global Request, Headers or FormData", async () => {
    const { url } = await echo();
    const { fetch } = createTestClient({ allowedRanges: loopback });
    const method = "POST";
    const sent = async (...call: Parameters<typeof fetch>) => (await fetch(...call)).json();
    const expected = { method, type: "text/plain", length: "5", mark: "m", body: "hello" };
    const headers = new Headers({ "content-type": "text/plain", "x-mark": "m" });
    expect(await sent(url, { method, headers, body: "hello" })).toEqual(expected);
    expect(await sent(new Request(url, { method, headers, body: "hello" }))).toEqual(expected);
    expect(await sent(new Request(url, { method: "PUT", headers }), { method, body: "hello" })).toEqual(expected);

    const form = new FormData();
    form.set("field", "value");
    expect(await sent(url, { method, body: form })).toMatchObject({
      type: expect.stringMatching(/^multipart\/form-data; boundary=/),
      body: expect.stringContaining('name="field"\r\n\r\nvalue'),
    });
  });
});

describe("connections", () => {
  test("use neither the global dispatcher nor one passed by the caller", async () => {
    const { url } = await startTestServer(replyHello);
    const before = getGlobalDispatcher();
    const broken = new Agent({ connect: () => expect.fail("used") });
    setGlobalDispatcher(broken);
    try {
      const init = { dispatcher: broken } as object;
      for (const client of [createTestClient({ allowedRanges: loopback }), createTrustedClient()]) {
        expect(await (await client.fetch(url, init)).text()).toBe("hello");
        await client.close();
      }
    } finally {
      setGlobalDispatcher(before);
    }
  });

  test("ignore the proxy settings of the environment, and do not keep the process alive when idle", async () => {
    const target = await startTestServer(replyHello);
    const proxy = await startTestServer(replyHello);
    proxy.server.on("connect", (_, socket) => socket.end("HTTP/1.1 403 Forbidden\r\n\r\n"));
    const script = `
      const { createGuardedClient, createTrustedClient } = await import(process.env.MODULE);
      const clients = [{ fetch }, createGuardedClient({ allowedRanges: ["127.0.0.1"] }), createTrustedClient()];
      const ask = async ({ fetch }) => (await fetch(process.env.TARGET)).text();
      for (const client of clients) console.log(await ask(client).catch(() => "proxy"));
      process.on("exit", () => console.log(performance.now() - started < 2000 ? "exits at once" : "hangs"));
      const started = performance.now();`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      env: {
        MODULE: new URL("./guarded-client.ts", import.meta.url).href,
        TARGET: target.url,
        NODE_USE_ENV_PROXY: "1",
        HTTP_PROXY: proxy.url,
        http_proxy: proxy.url,
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    // The standard fetch goes to the proxy, or this would prove nothing.
    expect((await readText(child.stdout)).trim().split("\n")).toEqual(["proxy", "hello", "hello", "exits at once"]);
    expect(proxy.connectedAddresses).toHaveLength(1);
  });

  test("are reused for the same origin, and closed with the client", async () => {
    const { url, connectedAddresses, server } = await startTestServer(replyHello);
    const client = createTestClient({ allowedRanges: loopback });
    for (const _ of [1, 2, 3]) {
      await (await client.fetch(url)).text();
      // A connection is free again a moment after its body has ended.
      await sleep(10);
    }
    expect(connectedAddresses).toHaveLength(1);
    await client.close();
    await expect.poll(() => new Promise((done) => server.getConnections((_, count) => done(count)))).toBe(0);
    await rejectionReason(client.fetch(url));
    expect(connectedAddresses).toHaveLength(1);
  });

  test("in use are closed with the client", async () => {
    const { url, clientClosed } = await startStalledServer();
    const client = createTestClient({ allowedRanges: loopback });
    const response = await client.fetch(url);
    await client.close();
    await rejectionReason(response.text());
    await clientClosed;
  });
});

describe("createTrustedClient", () => {
  test("reaches private addresses, by address and by name, within the same limits", async () => {
    const { url, port } = await startTestServer(replyHello);
    const client = createTrustedClient({ maxResponseBytes: 5 });
    expect(await (await client.fetch(url)).text()).toBe("hello");
    expect(await (await client.fetch(`http://localhost:${port}/`)).text()).toBe("hello");
    await client.close();
    const small = createTrustedClient({ maxResponseBytes: 4 });
    expect(await rejectionReason((await small.fetch(url)).text())).toMatchObject({ name: "ResponseTooLargeError" });
    await small.close();
    const { url: slow } = await startStalledServer();
    const quick = createTrustedClient({ timeoutMs: 100 });
    expect(await rejectionReason((await quick.fetch(slow)).text())).toMatchObject({ name: "TimeoutError" });
    await quick.close();
  });
});
