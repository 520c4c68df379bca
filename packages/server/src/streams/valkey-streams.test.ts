import { setTimeout as sleep } from "node:timers/promises";
import { startValkey, type ValkeyProcess } from "@perch/testkit/installation/valkey-process.ts";
import { startWithholdingProxy } from "@perch/testkit/installation/withholding-proxy.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { connectValkey } from "../limits/valkey-gate.ts";
import { createValkeyState } from "../limits/valkey-state.ts";
import { newUuid } from "../platform/ids.ts";
import { createLogger } from "../platform/logger.ts";
import type { RunEvent, RunStreams, StoredEvent } from "./run-streams.ts";
import { textOfStep } from "./text-diff.ts";
import { createValkeyStreams } from "./valkey-streams.ts";
import { connectSubscriber, createSubscriptions } from "./valkey-subscriptions.ts";

const logger = createLogger("silent");
let server: ValkeyProcess;
const closing: (() => void)[] = [];

beforeAll(async () => {
  server = await startValkey();
});
afterEach(() => {
  server.thaw();
  for (const close of closing.splice(0)) close();
});
afterAll(async () => {
  server.thaw();
  await server.kill();
});

async function connect(url = server.url) {
  const valkey = connectValkey(url, 250, logger);
  const subscriber = connectSubscriber(valkey, logger);
  const state = createValkeyState(valkey, 250, logger);
  const streams = createValkeyStreams({
    valkey,
    subscriptions: createSubscriptions(subscriber),
    deadlineMs: state.deadlineMs,
    logger,
    now: Date.now,
  });
  closing.push(() => {
    state.close();
    void streams.close();
    valkey.disconnect();
  });
  await vi.waitUntil(() => state.isUp() && subscriber.status === "ready", { timeout: 10_000 });
  return { valkey, subscriber, streams };
}

/** Reads a run from now on, and counts tokens that begin beyond the text so far. */
function follow(streams: RunStreams, runId: string) {
  const stop = new AbortController();
  const events: RunEvent[] = [];
  const pages: (readonly StoredEvent[])[] = [];
  let gaps = 0;
  const done = (async () => {
    for await (const page of streams.read(runId, undefined, stop.signal)) {
      pages.push(page);
      for (const { event } of page) {
        if (event.type === "token" && event.offset > textOfStep(events, event.step).length) gaps++;
        events.push(event);
      }
    }
  })();
  return {
    pages,
    text: (step = 1) => textOfStep(events, step),
    gaps: () => gaps,
    stop: () => {
      stop.abort();
      return done;
    },
  };
}

const polling = { timeout: 60_000, interval: 20 };

describe("streams during failures of Valkey", () => {
  test("SIGKILL in the middle of a text: readers get all of it after the restart, without gaps", async () => {
    const { streams } = await connect();
    const runId = newUuid();
    const reader = follow(streams, runId);
    const writer = streams.writeText(runId, 1);
    let text = "";
    for (let i = 0; i < 100; i++) {
      text += `word ${i} `;
      writer.write(`word ${i} `);
      if (i === 30) await server.kill();
      if (i === 60) await server.start();
      await sleep(30);
    }
    await vi.waitUntil(() => reader.text().includes("word 90"), polling);
    await writer.finish();
    await vi.waitUntil(() => reader.text() === text, polling);
    const late = follow(streams, runId);
    await vi.waitUntil(() => late.text() === text, polling);
    expect(reader.gaps() + late.gaps()).toBe(0);
    await Promise.all([reader.stop(), late.stop()]);
  });

  test("frozen: writers do not wait for it, and the text is complete after it answers again", async () => {
    const { streams } = await connect();
    const runId = newUuid();
    const reader = follow(streams, runId);
    const writer = streams.writeText(runId, 1);
    writer.write("before ");
    await vi.waitUntil(() => reader.text() === "before ", polling);
    server.freeze();
    const startedAt = performance.now();
    writer.write("meanwhile ");
    await streams.append(runId, { type: "tool", step: 1, call: 0, name: "t", attempt: 1, status: "started" });
    const other = streams.writeText(newUuid(), 1);
    other.write("nothing");
    await other.finish();
    // It answers only after this line.
    expect(performance.now() - startedAt).toBeLessThan(5000);
    await vi.waitUntil(() => reader.pages.some((page) => page.length === 0), polling);
    server.thaw();
    writer.write("after");
    await vi.waitUntil(() => reader.text() === "before meanwhile after", polling);
    await writer.finish();
    expect(reader.gaps()).toBe(0);
    await reader.stop();
  });

  describe("for one process only, whose calls are executed after it has given them up", () => {
    const connectThroughProxy = async () => {
      const proxy = await startWithholdingProxy(() => [Number(new URL(server.url).port)]);
      closing.push(proxy.close);
      return { proxy, ...(await connect(`redis://127.0.0.1:${proxy.port}`)) };
    };

    test("an attempt that has ended does not take the stream from a newer one", async () => {
      const [{ streams: old, proxy }, { streams }] = [await connectThroughProxy(), await connect()];
      const runId = newUuid();
      proxy.hang();
      const ended = old.writeText(runId, 1);
      ended.write("of the ended attempt");
      await ended.finish();
      const writer = streams.writeText(runId, 1);
      writer.write("one ");
      const reader = follow(streams, runId);
      await vi.waitUntil(() => reader.text() === "one ", polling);
      proxy.resume();
      await sleep(300);
      writer.write("two");
      await vi.waitUntil(() => reader.text() === "one two", { ...polling, timeout: 5000 });
      await writer.finish();
      await reader.stop();
    });

    test("no event returns to a stream that has been deleted", async () => {
      const [{ streams: old, proxy }, { streams, valkey }] = [await connectThroughProxy(), await connect()];
      const runId = newUuid();
      proxy.hang();
      await old.append(runId, { type: "tool", step: 1, call: 0, name: "t", attempt: 1, status: "started" });
      await streams.delete([runId]);
      await sleep(500);
      proxy.resume();
      await sleep(300);
      expect(await valkey.keys(`perch:stream:{${runId}}*`)).toEqual([]);
    });
  });

  test.each(["stream", "owner"])("only the %s evicted: a new reader still sees a text without gaps", async (lost) => {
    const { streams, valkey } = await connect();
    const runId = newUuid();
    const writer = streams.writeText(runId, 1);
    writer.write("one ");
    const key = `perch:stream:{${runId}}`;
    await vi.waitUntil(() => valkey.exists(key), polling);
    await valkey.del(lost === "stream" ? key : `${key}:owner`);
    await streams.append(runId, { type: "tool", step: 1, call: 0, name: "t", attempt: 1, status: "started" });
    writer.write("two");
    await writer.finish();
    const reader = follow(streams, runId);
    await vi.waitUntil(() => reader.text() === "one two", polling);
    expect(reader.gaps()).toBe(0);
    await reader.stop();
  });

  test("subscriptions survive a connection that breaks again before they are restored", async () => {
    const { streams, subscriber, valkey } = await connect();
    const runIds = Array.from({ length: 50 }, newUuid);
    const readers = runIds.map((runId) => follow(streams, runId));
    const channels = async () => Number((await valkey.pubsub("CHANNELS")).length);
    await vi.waitUntil(async () => (await channels()) === 50, polling);
    for (let i = 0; i < 3; i++) {
      subscriber.once("ready", () => void subscriber.stream.destroy());
      subscriber.stream.destroy();
      await sleep(100);
    }
    await vi.waitUntil(async () => (await channels()) === 50, polling);
    await Promise.all(readers.map((reader) => reader.stop()));
    await vi.waitUntil(async () => (await channels()) === 0, polling);
  });
});

test("an event published before the subscription is confirmed is not delayed", async () => {
  const { streams, subscriber } = await connect();
  const subscribe = subscriber.subscribe.bind(subscriber);
  vi.spyOn(subscriber, "subscribe").mockImplementation(async (...channels) => {
    await sleep(200);
    return subscribe(...(channels as string[]));
  });
  const runId = newUuid();
  const startedAt = performance.now();
  const pages = streams.read(runId, undefined, new AbortController().signal);
  expect((await pages.next()).value).toEqual([]);
  const page = pages.next();
  await sleep(100);
  await streams.append(runId, { type: "end" });
  expect((await page).value).toHaveLength(1);
  expect(performance.now() - startedAt).toBeLessThan(600);
});

describe("a process with many readers", () => {
  test("has one subscription for each run, and none when all readers have stopped", async () => {
    const { streams, valkey, subscriber } = await connect();
    const runIds = Array.from({ length: 500 }, newUuid);
    const readers = runIds.flatMap((runId) => [follow(streams, runId), follow(streams, runId)]);
    const channels = async () => Number((await valkey.pubsub("CHANNELS")).length);
    await vi.waitUntil(async () => (await channels()) === 500, polling);
    const startedAt = performance.now();
    for (const runId of runIds) {
      const writer = streams.writeText(runId, 1);
      writer.write(runId);
      void writer.finish();
    }
    await vi.waitUntil(() => readers.every((reader, i) => reader.text() === runIds[i >> 1]), polling);
    console.log(`1,000 readers of 500 runs had their text after ${Math.round(performance.now() - startedAt)} ms`);
    const listeners = subscriber.listenerCount("message");
    await Promise.all(readers.map((reader) => reader.stop()));
    await vi.waitUntil(async () => (await channels()) === 0, polling);
    expect(listeners).toBe(1);
  });

  test("ends them all when it closes", async () => {
    const { streams } = await connect();
    const readers = Array.from({ length: 10 }, async () => {
      const pages = streams.read(newUuid(), undefined, new AbortController().signal);
      await pages.next();
      return pages.next();
    });
    await sleep(50);
    await streams.close();
    for (const reader of await Promise.all(readers)) expect(reader.done).toBe(true);
  });

  test("keeps a stream for 15 minutes after its last event, for two after its end", async () => {
    const { streams, valkey } = await connect();
    const runId = newUuid();
    for (const [event, minutes] of [
      [{ type: "tool", step: 1, call: 1, name: "t", attempt: 1, status: "started" }, 15],
      [{ type: "end" }, 2],
    ] as const) {
      await streams.append(runId, event);
      for (const key of [`perch:stream:{${runId}}`, `perch:stream:{${runId}}:owner`]) {
        const ttl = await valkey.pttl(key);
        expect(ttl).toBeGreaterThan((minutes - 1) * 60_000);
        expect(ttl).toBeLessThanOrEqual(minutes * 60_000);
      }
    }
  });
});

test("the output of a tool is stored under the name that other releases read and write", async () => {
  const { streams, valkey } = await connect();
  const runId = newUuid();
  const tool = { type: "tool", step: 1, call: 1, name: "t", attempt: 1, status: "completed" } as const;
  await streams.append(runId, { ...tool, output: "12 packets" });
  const [[, fields = []] = []] = await valkey.xrange(`perch:stream:{${runId}}`, "-", "+");
  expect(JSON.parse(fields[1] ?? "")).toEqual({ ...tool, said: "12 packets" });
  const { value: page } = await streams.read(runId, undefined, new AbortController().signal).next();
  expect(page).toMatchObject([{ event: { ...tool, output: "12 packets" } }]);
});
