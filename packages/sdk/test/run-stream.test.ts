import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Organisation, usePerch } from "../../server/test/support/harness.ts";
import { createScriptedAgent } from "../../server/test/support/invoke-calls.ts";
import { NotFoundError, Perch, RunCancelledError, RunFailedError, type RunStreamEvent } from "../src/index.ts";
import { type FlakyProxy, startFlakyProxy } from "./flaky-proxy.ts";

const server = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true });
let proxy: FlakyProxy;
beforeAll(async () => {
  proxy = await startFlakyProxy(() => server().url);
});
afterAll(() => proxy?.close());

let organisation: Organisation;
let perch: Perch;
let direct: Perch;
beforeEach(async () => {
  organisation = await server().createOrganisation();
  perch = new Perch({ baseUrl: proxy.url, apiKey: organisation.adminKey, timeoutSeconds: 5 });
  direct = new Perch({ baseUrl: server().url, apiKey: organisation.adminKey });
  proxy.seen.splice(0);
  proxy.expect();
});

const words = Array.from({ length: 40 }, (_, index) => `word${index}`);
const whole = words.join(" ");
const slowly = { reply: whole, word_delay_ms: 40 };

async function allOf(events: AsyncIterable<RunStreamEvent>): Promise<RunStreamEvent[]> {
  const seen: RunStreamEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}
const tokensOf = (events: readonly RunStreamEvent[]) => events.filter((event) => event.type === "token");

describe("a stream", () => {
  test("that is cut three times, in the middle of events, yields the full text once, and there is one run", async () => {
    await createScriptedAgent(organisation, [slowly]);
    proxy.expect({ cutAfterBytes: 700 }, { cutAfterBytes: 650 }, { cutAfterBytes: 601 });
    const stream = perch.agents.invokeStream("bot", { message: "hello" });
    const events = await allOf(stream);
    const tokens = tokensOf(events);
    // Nothing twice, nothing missing, nothing replaced: put together they are the text, and each showed a true beginning of it.
    expect(tokens.map(({ text }) => text).join("")).toBe(whole);
    expect(tokens.every(({ snapshot }) => whole.startsWith(snapshot))).toBe(true);
    expect(events.at(-1)).toMatchObject({ type: "done", response: whole });
    expect(proxy.seen).toHaveLength(4);
    expect(new Set(proxy.seen.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    expect(proxy.seen[0]?.lastEventId).toBeUndefined();
    expect(new Set(proxy.seen.map(({ lastEventId }) => lastEventId)).size).toBe(4);
    expect(await direct.runs.list("bot").toArray()).toHaveLength(1);
    console.log(
      `a stream cut three times: ${tokens.length} tokens, ${whole.length} of ${whole.length} characters, once`,
    );
  });

  test("survives lost requests, 429, 503 and an error page before it begins", async () => {
    await createScriptedAgent(organisation, [{ reply: "Here I am" }]);
    proxy.expect("lose the request", { status: 429, retryAfter: 1 }, { status: 503 }, { status: 502, html: true });
    expect(await perch.agents.invokeStream("bot", { message: "hello" }).text()).toBe("Here I am");
    expect(await direct.runs.list("bot").toArray()).toHaveLength(1);
  });

  test("yields tool calls, the step that each text belongs to, and the run's id before its end", async () => {
    await createScriptedAgent(organisation, [
      { reply: "One moment.", tool_calls: [{ name: "perch_echo", arguments: { order: 42 } }] },
      { reply: "On its way." },
    ]);
    const stream = perch.agents.invokeStream("bot", { message: "hello" });
    expect(stream.runId).toBeUndefined();
    const events: RunStreamEvent[] = [];
    for await (const event of stream) {
      expect(stream.runId).toMatch(/^req_/);
      events.push(event);
    }
    const tools = events.filter((event) => event.type === "tool");
    expect(tools.map(({ name, status }) => [name, status])).toEqual([
      ["perch_echo", "started"],
      ["perch_echo", "completed"],
    ]);
    const steps = events.filter((event) => event.type === "step");
    expect(steps.map(({ kind, name, step, status }) => [kind, name, step, status])).toEqual([
      ["model", "perch/script", 1, "started"],
      ["model", "perch/script", 1, "completed"],
      ["model", "perch/script", 2, "started"],
      ["model", "perch/script", 2, "completed"],
    ]);
    const snapshots = new Map(tokensOf(events).map(({ step, snapshot }) => [step, snapshot]));
    expect([...snapshots]).toEqual([
      [1, "One moment."],
      [2, "On its way."],
    ]);
    // All is known afterwards, without another request.
    const requests = proxy.seen.length;
    expect(await stream.result()).toMatchObject({ response: "On its way.", request_id: stream.runId });
    expect(await stream.text()).toBe("On its way.");
    expect(proxy.seen).toHaveLength(requests);
  });

  test("that was left continues at its position, and the run was not stopped", async () => {
    await createScriptedAgent(organisation, [slowly]);
    const stream = perch.agents.invokeStream("bot", { message: "hello" });
    const first: RunStreamEvent[] = [];
    for await (const event of stream) {
      first.push(event);
      if (first.length === 5) break;
    }
    const rest = await allOf(stream);
    expect(
      tokensOf([...first, ...rest])
        .map(({ text }) => text)
        .join(""),
    ).toBe(whole);
    expect(await stream.text()).toBe(whole);
    expect(await direct.runs.list("bot").toArray()).toHaveLength(1);
  });

  test("of a run that fails throws the same error as without a stream, however often it is asked", async () => {
    await createScriptedAgent(organisation, [{ fail: "permanent" }]);
    const stream = perch.agents.invokeStream("bot", { message: "hello" });
    const error = await stream.result().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RunFailedError);
    expect(error).toMatchObject({
      status: 422,
      code: "run_failed",
      retryable: false,
      runId: stream.runId,
    });
    await expect(stream.text()).rejects.toBe(error);
    expect(proxy.seen).toHaveLength(1);
  });

  test("of a run that is cancelled reports that", async () => {
    await createScriptedAgent(organisation, [
      { reply: "one", tool_calls: [{ name: "perch_echo", arguments: {} }], delay_ms: 800 },
    ]);
    const { request_id } = await perch.agents.invokeInBackground("bot", { message: "hello" });
    const stream = perch.runs.follow("bot", request_id);
    const result = stream.result().catch((thrown: unknown) => thrown);
    await perch.runs.cancel("bot", request_id);
    expect(await result).toBeInstanceOf(RunCancelledError);
  });

  test("that is refused throws the refusal, and is not tried again", async () => {
    await expect(perch.agents.invokeStream("missing", { message: "hello" }).result()).rejects.toBeInstanceOf(
      NotFoundError,
    );
    expect(proxy.seen).toHaveLength(1);
  });

  test("ends when the caller aborts it", async () => {
    await createScriptedAgent(organisation, [slowly]);
    const abort = new AbortController();
    const reason = new Error("enough");
    const stream = perch.agents.invokeStream("bot", { message: "hello" }, { signal: abort.signal });
    const reading = (async () => {
      for await (const event of stream) if (event.type === "token") abort.abort(reason);
    })();
    await expect(reading).rejects.toBe(reason);
  });

  test("has one reader at a time", async () => {
    await createScriptedAgent(organisation, [slowly]);
    const stream = perch.agents.invokeStream("bot", { message: "hello" });
    const reading = stream.result();
    await expect(stream.result()).rejects.toThrow("being read already");
    expect((await reading).response).toBe(whole);
  });
});

describe("a run that was started in the background", () => {
  test("can be followed over broken connections, from its first event, also when it is over", async () => {
    await createScriptedAgent(organisation, [slowly]);
    const { request_id } = await perch.agents.invokeInBackground("bot", { message: "hello" });
    proxy.expect({ cutAfterBytes: 900 }, "lose the request", { cutAfterBytes: 700 });
    const tokens = tokensOf(await allOf(perch.runs.follow("bot", request_id)));
    expect(tokens.map(({ text }) => text).join("")).toBe(whole);
    expect(await perch.runs.follow("bot", request_id).text()).toBe(whole);
  });
});
