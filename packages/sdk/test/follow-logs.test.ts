import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { usePerch } from "../../server/test/support/harness.ts";
import { type LogEntry, Perch, type PerchEvent } from "../src/index.ts";
import { type FlakyProxy, startFlakyProxy } from "./flaky-proxy.ts";

const server = usePerch({}, { withWorker: true });
let proxy: FlakyProxy;
beforeAll(async () => {
  proxy = await startFlakyProxy(() => server().url);
});
afterAll(() => proxy?.close());

async function withBot() {
  const { adminKey } = await server().createOrganisation();
  const perch = new Perch({ baseUrl: proxy.url, apiKey: adminKey });
  const direct = new Perch({ baseUrl: server().url, apiKey: adminKey });
  await direct.agents.create({ name: "bot", model: "perch/echo" });
  return { perch, direct };
}

/** Reads in the background until the test is over. */
function collect<T>(follow: (signal: AbortSignal) => AsyncIterable<T>) {
  const abort = new AbortController();
  const seen: T[] = [];
  const reading = (async () => {
    for await (const item of follow(abort.signal)) seen.push(item);
  })().catch((error: unknown) => error);
  const stop = async () => {
    abort.abort(new Error("over"));
    return reading;
  };
  return { seen, stop };
}

describe("logs.follow", () => {
  test("yields new entries once each, also those that were written while the connection was broken", async () => {
    const { perch, direct } = await withBot();
    // The second connection comes after two seconds. Entries written meanwhile are only in the log.
    proxy.expect({ cutAfterBytes: 600 }, { status: 503, retryAfter: 2 });
    const { seen, stop } = collect<LogEntry>((signal) => perch.logs.follow("bot", {}, { signal }));
    const messages = () => seen.map(({ message }) => message);
    await expect.poll(() => proxy.seen.length).toBe(1);
    const add = (message: string) => direct.logs.add("bot", { entries: [{ message }] });
    for (let index = 1; index <= 12; index++) {
      await add(`entry ${index}`);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    const all = Array.from({ length: 12 }, (_, index) => `entry ${index + 1}`);
    await expect.poll(() => messages().toSorted()).toEqual(all.toSorted());
    expect(proxy.seen.length).toBeGreaterThanOrEqual(3);
    expect(await stop()).toMatchObject({ message: "over" });
  });

  test("continues from the server's last message that everything was sent, not from a heartbeat", async () => {
    const starts: (string | null)[] = [];
    const entry = (id: string, request_id: string | null) =>
      `id: ${id}\nevent: log\ndata: ${JSON.stringify({ id, timestamp: "2026-11-17T12:01:00.000Z", level: "info", message: id, metadata: { request_id } })}\n\n`;
    const bodies = [
      `: complete until 2026-11-17T12:00:00.250Z\n\n: complete until 2026-11-17T12:00:30.000Z\n\n${entry("a", null)}${entry("b", "req_1")}: heartbeat\n\n`,
      `${entry("a", null)}${entry("b", "req_1")}${entry("c", null)}: complete until 2026-11-17T12:02:00.000Z\n\n`,
      entry("d", null),
    ];
    const fetch = async (url: string | URL | Request) => {
      starts.push(new URL(String(url instanceof Request ? url.url : url)).searchParams.get("start_time"));
      const headers = { "content-type": "text/event-stream", date: "Tue, 17 Nov 2026 12:00:00 GMT" };
      return new Response(bodies.shift() ?? "", { headers });
    };
    const perch = new Perch({ baseUrl: "http://127.0.0.1", apiKey: "key", fetch });
    const seen: string[] = [];
    for await (const { message } of perch.logs.follow("bot")) {
      seen.push(message);
      if (message === "d") break;
    }
    expect(seen).toEqual(["a", "b", "c", "d"]);
    expect(starts).toEqual([null, "2026-11-17T12:00:20.000Z", "2026-11-17T12:01:50.000Z"]);
  });

  test("yields the entries that match its filter", async () => {
    const { perch, direct } = await withBot();
    const { seen, stop } = collect<LogEntry>((signal) => perch.logs.follow("bot", { level: "error" }, { signal }));
    const entries = [{ message: "fine" }, { message: "bad", level: "error" as const }];
    await expect
      .poll(async () => (await direct.logs.add("bot", { entries })) && seen.length > 0, { interval: 200 })
      .toBe(true);
    expect(new Set(seen.map(({ message }) => message))).toEqual(new Set(["bad"]));
    await stop();
  });
});

describe("events.follow", () => {
  test("yields every event from now on, once, with the data of its type", async () => {
    const { perch } = await withBot();
    await perch.agents.invoke("bot", { message: "before" });
    await expect.poll(async () => (await perch.events.list()).data.length).toBe(1);
    proxy.seen.splice(0);
    const { seen, stop } = collect<PerchEvent>((signal) => perch.events.follow({ intervalSeconds: 0.1 }, { signal }));
    await expect.poll(() => proxy.seen.length).toBeGreaterThan(3);
    for (const message of ["one", "two", "three"]) await perch.agents.invoke("bot", { message });
    const responses = () => seen.map((event) => (event.type === "agent.completed" ? event.data.response : event.type));
    await expect.poll(responses).toEqual(["one", "two", "three"]);
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(responses()).toHaveLength(3);
    await stop();
  });

  test("starts as far back as the caller asks", async () => {
    const { perch } = await withBot();
    const since = new Date(Date.now() - 1000);
    await perch.agents.invoke("bot", { message: "before" });
    for await (const event of perch.events.follow({
      since,
      type: "agent.completed",
      agent_id: "bot",
      intervalSeconds: 0.1,
    })) {
      expect(event.data).toMatchObject({ response: "before", status: "completed", user_id: null });
      break;
    }
  });
});
