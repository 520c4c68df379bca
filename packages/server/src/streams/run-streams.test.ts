import { setTimeout as sleep } from "node:timers/promises";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { connectValkey } from "../limits/valkey-gate.ts";
import { newUuid } from "../platform/ids.ts";
import { createLogger } from "../platform/logger.ts";
import { createLocalStreams } from "./local-streams.ts";
import type { RunEvent, RunStreams, StoredEvent } from "./run-streams.ts";
import { textOfStep } from "./text-diff.ts";
import { createValkeyStreams } from "./valkey-streams.ts";
import { connectSubscriber, createSubscriptions } from "./valkey-subscriptions.ts";

const logger = createLogger("silent");
const maxBytes = 100_000;

/** Two nodes that share the same streams. */
type StreamNodes = readonly [RunStreams, RunStreams];

const local = createLocalStreams(Date.now, { maxBytes });
const connections = [0, 1].map(() => {
  const valkey = connectValkey(serviceUrl("PERCH_VALKEY_URL"), 5000, logger);
  const subscriber = connectSubscriber(valkey, logger);
  return { valkey, subscriber, subscriptions: createSubscriptions(subscriber) };
});
const [one, two] = connections.map((connection) =>
  createValkeyStreams({ ...connection, deadlineMs: () => 0, logger, now: Date.now, maxBytes }),
);
if (!one || !two) throw new Error("no streams");

beforeAll(() =>
  vi.waitUntil(
    () =>
      connections.every((connection) => [connection.valkey, connection.subscriber].every((c) => c.status === "ready")),
    { timeout: 10_000 },
  ),
);
afterAll(async () => {
  for (const streams of [one, two]) await streams.close();
  for (const { valkey } of connections) valkey.disconnect();
});

const token = (step: number, offset: number, text: string): RunEvent => ({ type: "token", step, offset, text });
const plainTool = { type: "tool", step: 1, call: 0, name: "search", attempt: 1, status: "started" } as const;
const tool: RunEvent = { ...plainTool, arguments: { q: "é😀" } };

/** Reads until the end event, or as many events as asked for. */
async function collect(streams: RunStreams, runId: string, after?: string, max = Infinity): Promise<StoredEvent[]> {
  const stop = new AbortController();
  const all: StoredEvent[] = [];
  for await (const page of streams.read(runId, after, stop.signal)) {
    all.push(...page);
    if (all.length >= max || page.some(({ event }) => event.type === "end")) stop.abort();
  }
  return all;
}
const eventsOf = (stored: readonly StoredEvent[]) => stored.map(({ event }) => event);

describe.each<[string, StreamNodes]>([
  ["in one process", [local, local]],
  ["in Valkey, two nodes together", [one, two]],
])("run streams %s", (_, nodes) => {
  test("a reader gets past and future events in order, and can resume after any of them", async () => {
    const runId = newUuid();
    await nodes[0].append(runId, tool);
    const reading = collect(nodes[1], runId);
    const writer = nodes[0].writeText(runId, 1);
    writer.write("Hel");
    await sleep(40);
    writer.write("lo 😀");
    await writer.finish();
    await nodes[0].append(runId, { type: "end" });
    const all = await reading;
    expect(eventsOf(all)).toEqual([tool, token(1, 0, "Hel"), token(1, 3, "lo 😀"), { type: "end" }]);
    for (const [i, { id }] of all.entries()) {
      if (i + 1 < all.length) expect(await collect(nodes[0], runId, id)).toEqual(all.slice(i + 1));
    }
  });

  test("a waiting reader is notified within milliseconds, before its next poll", async () => {
    const runId = newUuid();
    const reading = collect(nodes[1], runId);
    await sleep(100);
    const startedAt = performance.now();
    await nodes[0].append(runId, { type: "end" });
    await reading;
    expect(performance.now() - startedAt).toBeLessThan(200);
  });

  test("several readers of a run each get all events; one that stops does not affect the others", async () => {
    const runId = newUuid();
    const readers = [nodes[0], nodes[0], nodes[1]].map((node) => collect(node, runId));
    const stopped = collect(nodes[0], runId, undefined, 1);
    await sleep(50);
    await nodes[0].append(runId, tool);
    await stopped;
    await nodes[1].append(runId, { type: "end" });
    for (const reader of readers) expect(eventsOf(await reader)).toEqual([tool, { type: "end" }]);
  });

  test("another attempt with the same text writes nothing, and continues where the first one ended", async () => {
    const runId = newUuid();
    const first = nodes[0].writeText(runId, 1);
    first.write("one two");
    await sleep(50);
    const second = nodes[1].writeText(runId, 1);
    second.write("one ");
    second.write("two three");
    await second.finish();
    first.write(" four");
    await first.finish();
    await nodes[0].append(runId, { type: "end" });
    const events = eventsOf(await collect(nodes[0], runId));
    expect(events).toEqual([token(1, 0, "one two"), token(1, 7, " three"), { type: "end" }]);
  });

  test("another attempt with a different or shorter text replaces the stored one", async () => {
    const runId = newUuid();
    for (const text of ["one two three", "one four", "one"]) {
      const writer = nodes[0].writeText(runId, 1);
      writer.write(text);
      await writer.finish();
    }
    await nodes[0].append(runId, { type: "end" });
    const events = eventsOf(await collect(nodes[1], runId));
    expect(events).toEqual([token(1, 0, "one two three"), token(1, 4, "four"), token(1, 3, ""), { type: "end" }]);
  });

  test("each step has its own text, and an earlier step can write no more", async () => {
    const runId = newUuid();
    for (const step of [1, 2, 3]) {
      const writer = nodes[step === 2 ? 1 : 0].writeText(runId, step);
      writer.write(`step ${step}`);
      await writer.finish();
    }
    const late = nodes[1].writeText(runId, 2);
    late.write("I am late");
    await late.finish();
    const again = nodes[1].writeText(runId, 3);
    again.write("step 3!");
    await again.finish();
    await nodes[0].append(runId, { type: "end" });
    const events = eventsOf(await collect(nodes[0], runId));
    expect([1, 2, 3].map((step) => textOfStep(events, step))).toEqual(["step 1", "step 2", "step 3!"]);
  });

  test("a run with too much text keeps a prefix without gaps, and its end", async () => {
    const runId = newUuid();
    const writer = nodes[0].writeText(runId, 1);
    let whole = "";
    for (let i = 0; i < 30; i++) {
      const words = `${i} `.repeat(2500);
      whole += words;
      writer.write(words);
      await sleep(25);
    }
    await writer.finish();
    const long = "x".repeat(maxBytes);
    const big: RunEvent = { ...plainTool, arguments: { q: long }, output: long, reason: long };
    await nodes[0].append(runId, big);
    await nodes[0].append(runId, { type: "end" });
    const events = eventsOf(await collect(nodes[1], runId));
    const stored = textOfStep(events, 1);
    expect(stored.length).toBeGreaterThan(maxBytes / 2);
    expect(stored.length).toBeLessThan(maxBytes);
    expect(whole.startsWith(stored)).toBe(true);
    expect(events.slice(-2)).toEqual([{ ...plainTool, reason: "x".repeat(200) }, { type: "end" }]);
  });

  test("an id that was never issued counts as the start", async () => {
    const runId = newUuid();
    await nodes[0].append(runId, { type: "end" });
    for (const after of ["", "x", "1-2-3", "-", "+", "$", "1", "0-0", `${"9".repeat(20)}-1`]) {
      expect(eventsOf(await collect(nodes[0], runId, after)), after).toEqual([{ type: "end" }]);
    }
  });

  test("pages hold a hundred events at most", async () => {
    const runId = newUuid();
    for (let call = 0; call < 250; call++) await nodes[0].append(runId, { ...tool, call } as RunEvent);
    const stop = new AbortController();
    const reader = nodes[1].read(runId, undefined, stop.signal);
    const sizes: number[] = [];
    for (let i = 0; i < 3; i++) sizes.push((await reader.next()).value?.length ?? 0);
    expect(sizes).toEqual([100, 100, 50]);
    const waiting = reader.next();
    stop.abort();
    expect((await waiting).done).toBe(true);
  });

  test("an unknown run gives an empty page at once and after a second, and ends at once when aborted", async () => {
    const stop = new AbortController();
    const reader = nodes[0].read(newUuid(), undefined, stop.signal);
    const startedAt = performance.now();
    expect((await reader.next()).value).toEqual([]);
    expect(performance.now() - startedAt).toBeLessThan(500);
    expect((await reader.next()).value).toEqual([]);
    expect(performance.now() - startedAt).toBeGreaterThan(900);
    expect(performance.now() - startedAt).toBeLessThan(1500);
    const waiting = reader.next();
    const stoppedAt = performance.now();
    stop.abort();
    expect((await waiting).done).toBe(true);
    expect(performance.now() - stoppedAt).toBeLessThan(100);
  });
});
