import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { serviceUrl } from "../../../../scripts/testbed/scratch-database.ts";
import { connectValkey } from "../gate/valkey-gate.ts";
import { newUuid } from "../platform/ids.ts";
import { createLogger } from "../platform/logger.ts";
import { createLocalStreams } from "./local-streams.ts";
import type { RunEvent, RunStreams, StoredEvent } from "./run-streams.ts";
import { textOfStep } from "./said-text.ts";
import { createValkeyStreams } from "./valkey-streams.ts";
import { connectSubscriber, createSubscriptions } from "./valkey-subscriptions.ts";

const logger = createLogger("silent");
const maxBytes = 100_000;

/** Two doors to the same streams, as two nodes have. */
type Doors = readonly [RunStreams, RunStreams];

const local = createLocalStreams(Date.now, { maxBytes });
const connections = [0, 1].map(() => {
  const valkey = connectValkey(serviceUrl("PERCH_VALKEY_URL"), logger);
  const subscriber = connectSubscriber(valkey, logger);
  return { valkey, subscriber, subscriptions: createSubscriptions(subscriber) };
});
const [one, two] = connections.map((both) => createValkeyStreams({ ...both, logger, now: Date.now, maxBytes }));
if (!one || !two) throw new Error("no streams");

beforeAll(() =>
  vi.waitUntil(() => connections.every((both) => [both.valkey, both.subscriber].every((c) => c.status === "ready"))),
);
afterAll(async () => {
  for (const streams of [one, two]) await streams.close();
  for (const { valkey } of connections) valkey.disconnect();
});

const token = (step: number, offset: number, text: string): RunEvent => ({ type: "token", step, offset, text });
const tool: RunEvent = { type: "tool", step: 1, call: 0, name: "search", status: "started", arguments: { q: "é😀" } };

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

describe.each<[string, Doors]>([
  ["in one process", [local, local]],
  ["in Valkey, two nodes together", [one, two]],
])("run streams %s", (_, doors) => {
  test("a reader gets the events that were there and those that come, in order, and can go on after any of them", async () => {
    const runId = newUuid();
    await doors[0].append(runId, tool);
    const reading = collect(doors[1], runId);
    const writer = doors[0].writeText(runId, 1);
    writer.write("Hel");
    await sleep(40);
    writer.write("lo 😀");
    await writer.finish();
    await doors[0].append(runId, { type: "end" });
    const all = await reading;
    expect(eventsOf(all)).toEqual([tool, token(1, 0, "Hel"), token(1, 3, "lo 😀"), { type: "end" }]);
    for (const [i, { id }] of all.entries()) {
      if (i + 1 < all.length) expect(await collect(doors[0], runId, id)).toEqual(all.slice(i + 1));
    }
  });

  test("a live reader waits milliseconds, not for the next look", async () => {
    const runId = newUuid();
    const reading = collect(doors[1], runId);
    await sleep(100);
    const startedAt = performance.now();
    await doors[0].append(runId, { type: "end" });
    await reading;
    expect(performance.now() - startedAt).toBeLessThan(200);
  });

  test("several readers of a run each get all of it; one that leaves takes nothing from the others", async () => {
    const runId = newUuid();
    const readers = [doors[0], doors[0], doors[1]].map((door) => collect(door, runId));
    const leaving = collect(doors[0], runId, undefined, 1);
    await sleep(50);
    await doors[0].append(runId, tool);
    await leaving;
    await doors[1].append(runId, { type: "end" });
    for (const reader of readers) expect(eventsOf(await reader)).toEqual([tool, { type: "end" }]);
  });

  test("another attempt that says the same is silent, and goes on where the first one ended", async () => {
    const runId = newUuid();
    const first = doors[0].writeText(runId, 1);
    first.write("one two");
    await sleep(50);
    const second = doors[1].writeText(runId, 1);
    second.write("one ");
    second.write("two three");
    await second.finish();
    first.write(" four");
    await first.finish();
    await doors[0].append(runId, { type: "end" });
    const events = eventsOf(await collect(doors[0], runId));
    expect(events).toEqual([token(1, 0, "one two"), token(1, 7, " three"), { type: "end" }]);
  });

  test("another attempt that says something else, or less, replaces what is there", async () => {
    const runId = newUuid();
    for (const text of ["one two three", "one four", "one"]) {
      const writer = doors[0].writeText(runId, 1);
      writer.write(text);
      await writer.finish();
    }
    await doors[0].append(runId, { type: "end" });
    const events = eventsOf(await collect(doors[1], runId));
    expect(events).toEqual([token(1, 0, "one two three"), token(1, 4, "four"), token(1, 3, ""), { type: "end" }]);
  });

  test("steps have texts of their own, and a step that is past says no more", async () => {
    const runId = newUuid();
    for (const step of [1, 2, 3]) {
      const writer = doors[step === 2 ? 1 : 0].writeText(runId, step);
      writer.write(`step ${step}`);
      await writer.finish();
    }
    const late = doors[1].writeText(runId, 2);
    late.write("I am late");
    await late.finish();
    const again = doors[1].writeText(runId, 3);
    again.write("step 3!");
    await again.finish();
    await doors[0].append(runId, { type: "end" });
    const events = eventsOf(await collect(doors[0], runId));
    expect([1, 2, 3].map((step) => textOfStep(events, step))).toEqual(["step 1", "step 2", "step 3!"]);
  });

  test("a run that says too much keeps a beginning without holes, and its end", async () => {
    const runId = newUuid();
    const writer = doors[0].writeText(runId, 1);
    let whole = "";
    for (let i = 0; i < 30; i++) {
      const words = `${i} `.repeat(2500);
      whole += words;
      writer.write(words);
      await sleep(25);
    }
    await writer.finish();
    const big: RunEvent = { ...tool, arguments: { q: "x".repeat(maxBytes) } };
    await doors[0].append(runId, big);
    await doors[0].append(runId, { type: "end" });
    const events = eventsOf(await collect(doors[1], runId));
    const kept = textOfStep(events, 1);
    expect(kept.length).toBeGreaterThan(maxBytes / 2);
    expect(kept.length).toBeLessThan(maxBytes);
    expect(whole.startsWith(kept)).toBe(true);
    expect(events.slice(-2)).toEqual([
      { type: "tool", step: 1, call: 0, name: "search", status: "started" },
      { type: "end" },
    ]);
  });

  test("an id that was never issued counts as the start", async () => {
    const runId = newUuid();
    await doors[0].append(runId, { type: "end" });
    for (const after of ["", "x", "1-2-3", "-", "+", "$", "1", "0-0", `${"9".repeat(20)}-1`]) {
      expect(eventsOf(await collect(doors[0], runId, after)), after).toEqual([{ type: "end" }]);
    }
  });

  test("pages hold a hundred events at most", async () => {
    const runId = newUuid();
    for (let call = 0; call < 250; call++) await doors[0].append(runId, { ...tool, call } as RunEvent);
    const stop = new AbortController();
    const reader = doors[1].read(runId, undefined, stop.signal);
    const sizes: number[] = [];
    for (let i = 0; i < 3; i++) sizes.push((await reader.next()).value?.length ?? 0);
    expect(sizes).toEqual([100, 100, 50]);
    const waiting = reader.next();
    stop.abort();
    expect((await waiting).done).toBe(true);
  });

  test("an unknown run gives an empty page at once and after a second, and ends at once when told to", async () => {
    const stop = new AbortController();
    const reader = doors[0].read(newUuid(), undefined, stop.signal);
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
