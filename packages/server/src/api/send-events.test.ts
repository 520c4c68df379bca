import { once } from "node:events";
import { Agent, get as httpGet, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import fastify, { type FastifyInstance } from "fastify";
import { afterEach, describe, expect, test, vi } from "vitest";
import { ApiError } from "../platform/api-error.ts";
import type { EventStream, ServerEvent } from "../resources/handlers.ts";
import { createSendEvents } from "./send-events.ts";

type EventsOf = EventStream["events"];

const closing: FastifyInstance[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((app) => app.close()));
});

interface Served {
  readonly app: FastifyInstance;
  readonly get: (init?: { agent?: Agent; method?: string }) => Promise<IncomingMessage>;
  readonly logged: string[];
  readonly responses: number[];
}

async function serve(events: EventsOf, options = {}, checkAccess = async () => {}): Promise<Served> {
  const logged: string[] = [];
  const responses: number[] = [];
  const stream = { write: (line: string) => void logged.push(line) };
  const app = fastify({ logger: { level: "error", stream }, forceCloseConnections: "idle", keepAliveTimeout: 72_000 });
  app.addHook("onRequest", async (_, reply) => void reply.header("x-correlation-id", "request-1"));
  app.addHook("onSend", async (_, reply) => void reply.header("x-sent", "yes"));
  app.addHook("onResponse", async (_, reply) => void responses.push(reply.statusCode));
  const send = createSendEvents(app, options);
  app.get("/", async (request, reply) => {
    reply.type("application/json");
    return send(request, reply, { headers: { "x-run": "r" }, events }, checkAccess);
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  closing.push(app);
  const { port } = app.server.address() as AddressInfo;
  const get: Served["get"] = async (init = {}) => {
    const request = httpGet({ host: "127.0.0.1", port, ...init });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    return response.on("error", () => undefined).setEncoding("utf8");
  };
  return { app, get, logged, responses };
}

const read = async (response: IncomingMessage): Promise<string> => (await response.toArray()).join("");
const untilAborted = (signal: AbortSignal) => once(signal, "abort");
const event = (id: string, data: unknown): ServerEvent => ({ id, event: "token", data });

describe("events to a client", () => {
  test("are framed as the standard requires, each on one line, and the response ends after the last", async () => {
    const { get, responses } = await serve(async function* () {
      yield event("1-0", { text: "a\nb\r\u2028 😀" });
      yield event("2-0", null);
    });
    const response = await get();
    expect(await read(response)).toBe(
      [
        "retry: 1000\n\n",
        `id: 1-0\nevent: token\ndata: {"text":"a\\nb\\r\u2028 😀"}\n\n`,
        "id: 2-0\nevent: token\ndata: null\n\n",
      ].join(""),
    );
    expect(responses).toEqual([200]);
  });

  test("are preceded by all headers, including those set earlier and by hooks", async () => {
    const { get } = await serve(async function* (signal) {
      await untilAborted(signal);
      yield event("1-0", 1);
    });
    const response = await get();
    expect(response.statusCode).toBe(200);
    expect(response.headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
      "x-run": "r",
      "x-correlation-id": "request-1",
      "x-sent": "yes",
    });
    response.destroy();
  });

  test("are interrupted by a heartbeat only when there are none", async () => {
    const { get } = await serve(
      async function* () {
        for (let i = 0; i < 5; i++) {
          await sleep(20);
          yield event(`${i}-0`, i);
        }
        await sleep(250);
      },
      { heartbeatMs: 100 },
    );
    const text = await read(await get());
    expect(text.match(/: heartbeat\n\n/g)).toHaveLength(2);
    expect(text.indexOf(": heartbeat")).toBeGreaterThan(text.indexOf("id: 4-0"));
  });

  test("that fail end with an error event, logged once, which does not reveal the cause", async () => {
    const { get, logged } = await serve(async function* () {
      yield event("1-0", 1);
      throw new Error("secret cause");
    });
    const text = await read(await get());
    expect(text).toMatch(/\n\nevent: error\ndata: \{"code":"server_error","message":"[^"]+"\}\n\n$/);
    expect(text).not.toContain("secret");
    expect(logged.filter((line) => line.includes("secret cause"))).toHaveLength(1);
  });

  test("are not pulled any more once the client has closed the connection", async () => {
    let clientClosed = false;
    const { get } = await serve(async function* (signal) {
      yield event("1-0", 1);
      await untilAborted(signal);
      clientClosed = true;
    });
    const response = await get();
    await once(response, "data");
    response.destroy();
    await vi.waitUntil(() => clientClosed, { timeout: 10_000 });
  });

  test("are not produced for HEAD, whose response ends", async () => {
    const events = vi.fn<EventsOf>();
    const { get } = await serve(events);
    const response = await get({ method: "HEAD" });
    expect(response.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    expect(await read(response)).toBe("");
    expect(events).not.toHaveBeenCalled();
  });
});

describe("a client whose key ends", () => {
  const busy: EventsOf = async function* (signal) {
    for (let i = 0; !signal.aborted; i++) {
      await sleep(10);
      yield event(`${i}-0`, i);
    }
  };
  const revoked = new ApiError("unauthorized", "This API key is revoked. Use another one.");

  test("loses its stream at the next heartbeat, also in the middle of events, with the reason", async () => {
    let isRevoked = false;
    const checkAccess = async () => {
      if (isRevoked) throw revoked;
    };
    const { get } = await serve(busy, { heartbeatMs: 100 }, checkAccess);
    const reading = read(await get());
    await sleep(250);
    isRevoked = true;
    const revokedAt = performance.now();
    const text = await reading;
    expect(performance.now() - revokedAt).toBeLessThan(1000);
    expect(text.match(/^id: /gm)?.length).toBeGreaterThan(3);
    const last = { code: revoked.code, message: revoked.message };
    expect(text.endsWith(`\n\nevent: error\ndata: ${JSON.stringify(last)}\n\n`)).toBe(true);
  });

  test("keeps its stream if the key cannot be checked", async () => {
    const checkAccess = vi.fn(() => Promise.reject(new Error("no database")));
    const { get } = await serve(busy, { heartbeatMs: 50, maxMs: 400 }, checkAccess);
    expect(await read(await get())).not.toContain("event: error");
    expect(checkAccess.mock.calls.length).toBeGreaterThan(2);
  });
});

describe("a client that does not read", () => {
  const kilobytes = "x".repeat(16 * 1024);

  test("stops the source when the socket buffers are full, and is disconnected if it never reads", async () => {
    let pulled = 0;
    let isOver = false;
    const { get } = await serve(
      async function* () {
        try {
          for (; pulled < 10_000; pulled++) yield event(`${pulled}-0`, kilobytes);
        } finally {
          isOver = true;
        }
      },
      { stalledMs: 300 },
    );
    const response = await get();
    response.pause();
    await sleep(150);
    const pulledSoFar = pulled;
    await sleep(100);
    expect(pulled).toBe(pulledSoFar);
    expect(pulled).toBeLessThan(2000);
    await vi.waitUntil(() => isOver, { timeout: 10_000 });
  });

  test("loses nothing if it resumes reading in time", async () => {
    const { get } = await serve(async function* () {
      for (let i = 0; i < 1000; i++) yield event(`${i}-0`, kilobytes);
    });
    const response = await get();
    response.pause();
    await sleep(300);
    const text = await read(response);
    expect(text.match(/^id: /gm)).toHaveLength(1000);
  });
});

describe("a server that closes", () => {
  test("ends its streams cleanly and at once, also those that stall or whose source ignores the signal", async () => {
    let call = 0;
    const { app, get } = await serve(async function* () {
      if (call++ === 0) for (;;) yield event("1-0", "x".repeat(100_000));
      await new Promise(() => {});
      yield event("1-0", 1);
    });
    const agent = new Agent({ keepAlive: true });
    const stalled = await get({ agent });
    stalled.pause();
    const idle = await Promise.all([get({ agent }), get({ agent })]);
    const reading = idle.map(read);
    await sleep(200);
    const startedAt = performance.now();
    await app.close();
    expect(performance.now() - startedAt).toBeLessThan(500);
    for (const text of await Promise.all(reading)) expect(text).toBe("retry: 1000\n\n");
    agent.destroy();
  });
});
