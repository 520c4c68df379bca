import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createPageReader, type EventSource } from "./page-reader.ts";
import type { StoredEvent } from "./run-streams.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Gives these pages one after the other, then none; undefined is a failure. */
function createSource(pages: (readonly StoredEvent[] | undefined)[] = []) {
  const listeners = new Set<() => void>();
  const state = { listening: true, failing: false, reads: 0 };
  const source: EventSource = {
    listen: (_, wake) => {
      listeners.add(wake);
      return () => void listeners.delete(wake);
    },
    page: async () => {
      state.reads++;
      return state.failing ? undefined : (pages.shift() ?? []);
    },
    isListening: () => state.listening,
    isClosed: () => false,
  };
  return { source, pages, state, listeners, wake: () => listeners.forEach((listener) => void listener()) };
}

const end: StoredEvent = { id: "1-1", event: { type: "end" } };

/** Seconds at which pages came, and their sizes. */
async function watch(subject: ReturnType<typeof createSource>, seconds: number, meanwhile: () => void = () => {}) {
  const stop = new AbortController();
  const startedAt = performance.now();
  const seen: [second: number, size: number][] = [];
  const reading = (async () => {
    for await (const page of createPageReader(subject.source)("run", undefined, stop.signal))
      seen.push([Math.round((performance.now() - startedAt) / 1000), page.length]);
  })();
  await vi.advanceTimersByTimeAsync(10);
  meanwhile();
  await vi.advanceTimersByTimeAsync(seconds * 1000);
  stop.abort();
  await reading;
  return seen;
}

describe("a reader", () => {
  test("of a run without events gives an empty page at once, after 1, 2 and then every 3 seconds", async () => {
    const seen = await watch(createSource(), 10);
    expect(seen).toEqual([0, 1, 3, 6, 9].map((second) => [second, 0]));
  });

  test("that has seen events gives an empty page after every 15 seconds without one", async () => {
    const seen = await watch(createSource([[end]]), 40);
    expect(seen).toEqual([
      [0, 1],
      [15, 0],
      [30, 0],
    ]);
  });

  test.each([
    ["cannot be notified", { listening: false }],
    ["gets no answer", { failing: true }],
  ])("that %s reads and gives an empty page every second", async (_, trouble) => {
    const subject = createSource([[end]]);
    const seen = await watch(subject, 5, () => {
      Object.assign(subject.state, trouble);
      subject.wake();
    });
    expect(seen).toEqual([[0, 1], ...[1, 2, 3, 4, 5].map((second) => [second, 0])]);
  });

  test("that missed a notification finds the event at its next read, and does not count that as silence", async () => {
    const subject = createSource();
    const seen = await watch(subject, 2, () => void subject.pages.push([end]));
    expect(seen).toEqual([
      [0, 0],
      [1, 1],
    ]);
  });

  test("reads once for one notification", async () => {
    const subject = createSource();
    await watch(subject, 0.5, subject.wake);
    expect(subject.state.reads).toBe(2);
  });

  test("reads again when a notification came during a read", async () => {
    const subject = createSource([[]]);
    const { page } = subject.source;
    const wakingOnce = vi.fn<EventSource["page"]>(page).mockImplementationOnce(async () => {
      subject.wake();
      return [];
    });
    await watch({ ...subject, source: { ...subject.source, page: wakingOnce } }, 0.5);
    expect(wakingOnce).toHaveBeenCalledTimes(2);
  });

  test("reads nothing before it is asked for the next page", async () => {
    const subject = createSource([[end], [end]]);
    const stop = new AbortController();
    const reader = createPageReader(subject.source)("run", undefined, stop.signal);
    expect((await reader.next()).value).toEqual([end]);
    subject.wake();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(subject.state.reads).toBe(1);
    expect((await reader.next()).value).toEqual([end]);
    await reader.return();
  });

  test("leaves no listener and no timer, whether aborted or closed early", async () => {
    const subject = createSource([[end]]);
    await watch(subject, 3);
    for await (const _ of createPageReader(createSource([[end]]).source)(
      "run",
      undefined,
      new AbortController().signal,
    ))
      break;
    expect(subject.listeners.size).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});
