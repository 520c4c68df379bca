import { afterEach, describe, expect, test, vi } from "vitest";
import { ConnectionError, Perch, type RunStreamEvent } from "../src/index.ts";

const result = { response: "The order", request_id: "req_1", tokens_used: 2, duration_ms: 5 };
const event = (id: string | undefined, name: string, data: unknown): string =>
  `${id === undefined ? "" : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const token = (id: string, step: number, offset: number, text: string) => event(id, "token", { step, offset, text });
const done = event("end", "done", result);

interface Given {
  readonly text: string;
  /** It sends nothing more, and does not end. */
  readonly hangs?: true;
}

/** A server that sends each connection the next text of the list. */
function serving(...connections: readonly (string | Given)[]) {
  const lastEventIds: (string | null)[] = [];
  const fetch = async (_: unknown, init: RequestInit = {}) => {
    const given = connections[lastEventIds.length] ?? "";
    const { text, hangs } = typeof given === "string" ? { text: given } : given;
    lastEventIds.push(new Headers(init.headers).get("last-event-id"));
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(`retry: 1000\n\n${text}`));
        if (!hangs) controller.close();
        init.signal?.addEventListener("abort", () => controller.error(init.signal?.reason));
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
  };
  const options = { baseUrl: "http://perch.test", apiKey: "k", fetch: fetch as typeof globalThis.fetch };
  return { stream: new Perch(options).agents.invokeStream("bot", { message: "hi" }), lastEventIds };
}

async function allOf(events: AsyncIterable<RunStreamEvent>): Promise<RunStreamEvent[]> {
  const seen: RunStreamEvent[] = [];
  for await (const one of events) seen.push(one);
  return seen;
}
const snapshots = (events: readonly RunStreamEvent[]) =>
  events.flatMap((one) => (one.type === "token" ? [one.snapshot] : []));
afterEach(() => void vi.useRealTimers());

test("a reader learns that events were dropped, and gets the result all the same", async () => {
  const { stream } = serving(event("1", "dropped", { message: "Too much is kept." }) + done);
  expect(await allOf(stream)).toEqual([
    { type: "dropped", message: "Too much is kept." },
    { type: "done", ...result },
  ]);
});

describe("the text of a stream", () => {
  test("is replaced from a smaller offset on, and begins anew with a step", async () => {
    const text =
      token("1", 1, 0, "It ") + token("2", 1, 0, "The ") + token("3", 1, 4, "order ") + token("4", 2, 0, "Yes");
    const { stream } = serving(text + done);
    expect(snapshots(await allOf(stream))).toEqual(["It ", "The ", "The order ", "Yes"]);
  });

  test("is replaced also over a broken connection", async () => {
    const { stream, lastEventIds } = serving(token("1", 1, 0, "It is"), token("2", 1, 3, "was") + done);
    expect(snapshots(await allOf(stream))).toEqual(["It is", "It was"]);
    expect(lastEventIds).toEqual([null, "1"]);
  });
});

describe("a stream", () => {
  test("takes an error without an id for one of the node, and comes back", async () => {
    const failure = event(undefined, "error", { code: "server_error", message: "Something failed on our side." });
    const { stream, lastEventIds } = serving(token("1", 1, 0, "The") + failure, done);
    expect(await stream.result()).toEqual(result);
    expect(lastEventIds).toEqual([null, "1"]);
  });

  test("passes over events that it does not know", async () => {
    const { stream } = serving(event("1", "weather", { sun: true }) + done);
    expect(await allOf(stream)).toEqual([{ type: "done", ...result }]);
  });

  test("drops an event that was cut, and gets it whole the next time", async () => {
    const cut = token("2", 1, 3, " order").slice(0, -1);
    const { stream, lastEventIds } = serving(token("1", 1, 0, "The") + cut, token("2", 1, 3, " order") + done);
    expect(snapshots(await allOf(stream))).toEqual(["The", "The order"]);
    expect(lastEventIds).toEqual([null, "1"]);
  });

  test("that is silent for 45 seconds counts as broken, a heartbeat as a sign of life", async () => {
    vi.useFakeTimers();
    const { stream, lastEventIds } = serving({ text: token("1", 1, 0, "The"), hangs: true }, done);
    const reading = stream.result();
    await vi.advanceTimersByTimeAsync(44_000);
    expect(lastEventIds).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(2000);
    expect(await reading).toEqual(result);
    expect(lastEventIds).toEqual([null, "1"]);
  });

  test("gives up after four comings back in vain, and counts anew with every event and heartbeat", async () => {
    vi.useFakeTimers();
    const empty = ["", "", "", ""];
    const hopeless = serving(...empty, "", done);
    const failing = hopeless.stream.result().catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await failing).toBeInstanceOf(ConnectionError);
    expect(hopeless.lastEventIds).toHaveLength(5);
    const alive = serving(
      ...empty,
      token("1", 1, 0, "The"),
      ...empty.slice(1),
      ": heartbeat\n\n",
      ...empty.slice(1),
      done,
    );
    const reading = alive.stream.result();
    await vi.advanceTimersByTimeAsync(120_000);
    expect(await reading).toEqual(result);
  });
});
