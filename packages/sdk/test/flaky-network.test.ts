import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { usePerch } from "../../server/test/support/harness.ts";
import { createScriptedAgent } from "../../server/test/support/invoke-calls.ts";
import { Perch, RateLimitedError, RunFailedError, TimeoutError, UnavailableError } from "../src/index.ts";
import { type FlakyProxy, startFlakyProxy } from "./flaky-proxy.ts";

const server = usePerch({}, { withWorker: true });
let proxy: FlakyProxy;
beforeAll(async () => {
  proxy = await startFlakyProxy(() => server().url);
});
afterAll(() => proxy?.close());

let perch: Perch;
/** A client without the proxy, which shows what really happened. */
let direct: Perch;
beforeEach(async () => {
  const organisation = await server().createOrganisation();
  perch = new Perch({ baseUrl: proxy.url, apiKey: organisation.adminKey, timeoutSeconds: 5 });
  direct = new Perch({ baseUrl: server().url, apiKey: organisation.adminKey });
  await createScriptedAgent(organisation, [{ reply: "You said: {message}", delay_ms: 100 }]);
  proxy.seen.splice(0);
  proxy.expect();
});
const runs = () => direct.runs.list("bot").toArray();
const keysUsed = () => new Set(proxy.seen.map(({ idempotencyKey }) => idempotencyKey));

describe("an invoke over a network that fails", () => {
  test.each([
    ["loses the request", "lose the request"],
    ["loses the answer", "lose the answer"],
    ["cuts the answer short", { cutAfterBytes: 20 }],
    ["has an error page of its own", { status: 502, html: true }],
    ["answers 503", { status: 503, retryAfter: 0 }],
    ["answers 429", { status: 429, retryAfter: 1 }],
    ["answers 504", { status: 504, html: true }],
  ] as const)("that %s: one run, and its answer", async (_, fault) => {
    proxy.expect(fault);
    const { response, request_id } = await perch.agents.invoke("bot", { message: "hello" });
    expect(response).toBe("You said: hello");
    expect((await runs()).map((run) => run.request_id)).toEqual([request_id]);
    expect(proxy.seen).toHaveLength(2);
    expect(keysUsed().size).toBe(1);
  });

  test("in every way, one after the other: one run, and its answer", async () => {
    proxy.expect("lose the answer", { status: 429, retryAfter: 1 }, { cutAfterBytes: 5 }, { status: 503 });
    const { response } = await perch.agents.invoke("bot", { message: "hello" });
    expect(response).toBe("You said: hello");
    expect(await runs()).toHaveLength(1);
    expect(proxy.seen).toHaveLength(5);
    expect(keysUsed().size).toBe(1);
  });

  test("that delays the answer longer than the client waits: the same run answers the next try", async () => {
    proxy.expect({ delayMs: 3000 });
    const { response } = await perch.agents.invoke("bot", { message: "hello" }, { timeoutSeconds: 1 });
    expect(response).toBe("You said: hello");
    expect(await runs()).toHaveLength(1);
  });
});

describe("an invoke", () => {
  test("waits longer than one try may take, and runs once", async () => {
    const instructions = JSON.stringify({ steps: [{ reply: "At last", delay_ms: 4000 }] });
    await direct.agents.create({ name: "slow", model: "perch/script", instructions });
    const { response } = await perch.agents.invoke("slow", { message: "hello" }, { timeoutSeconds: 1.5 });
    expect(response).toBe("At last");
    expect(await direct.runs.list("slow").toArray()).toHaveLength(1);
    expect(proxy.seen.length).toBeGreaterThan(2);
    expect(keysUsed().size).toBe(1);
  });

  test("whose run fails is not repeated, and names the run", async () => {
    const instructions = JSON.stringify({ steps: [{ fail: "permanent" }] });
    await direct.agents.create({ name: "broken", model: "perch/script", instructions });
    const error = await perch.agents.invoke("broken", { message: "hello" }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RunFailedError);
    const { runId, status, code, retryable, correlationId } = error as RunFailedError;
    expect({ status, code, retryable }).toEqual({ status: 422, code: "run_failed", retryable: false });
    expect(correlationId).toMatch(/^corr_/);
    expect((await direct.runs.get("broken", runId)).status).toBe("failed");
    expect(proxy.seen).toHaveLength(1);
  });

  test("two calls are two runs", async () => {
    await Promise.all([1, 2].map(() => perch.agents.invoke("bot", { message: "hello" })));
    expect(await runs()).toHaveLength(2);
    expect(keysUsed().size).toBe(2);
  });

  test("with a key of the caller's own runs once, however often it is called", async () => {
    const options = { idempotencyKey: "order-42" };
    const first = await perch.agents.invoke("bot", { message: "hello" }, options);
    expect(await perch.agents.invoke("bot", { message: "hello" }, options)).toEqual(first);
    expect(await runs()).toHaveLength(1);
  });
});

describe("any other call over a network that fails", () => {
  test("a create whose answer is lost makes one thing, and returns it", async () => {
    proxy.expect("lose the answer", { cutAfterBytes: 30 });
    const { name, id } = await perch.agents.create({ name: "once", model: "perch/echo" });
    expect(name).toBe("once");
    expect((await direct.agents.get("once")).id).toBe(id);
    const { key } = await perch.keys.create({ name: "ci", role: "viewer" });
    expect(key).toMatch(/^perch_/);
  });

  test("waits as long as a 429 asks, and not less", async () => {
    proxy.expect({ status: 429, retryAfter: 2 });
    await perch.agents.get("bot");
    const [first, second] = proxy.seen;
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(1990);
  });

  test("gives up at once if it would have to wait for more than a minute", async () => {
    proxy.expect({ status: 429, retryAfter: 600 });
    const error = await perch.agents.get("bot").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RateLimitedError);
    expect(error).toMatchObject({ status: 429, code: "rate_limited", retryAfterSeconds: 600 });
    expect(proxy.seen).toHaveLength(1);
  });

  test("tries as often as it may, then throws the last error", async () => {
    proxy.expect({ status: 503 }, { status: 503 }, { status: 503 });
    await expect(perch.agents.get("bot", { maxRetries: 2 })).rejects.toBeInstanceOf(UnavailableError);
    expect(proxy.seen).toHaveLength(3);
    proxy.expect({ status: 503 });
    await expect(perch.agents.get("bot", { maxRetries: 0 })).rejects.toBeInstanceOf(UnavailableError);
  });

  test("stops when its time is over, or when the caller aborts it", async () => {
    proxy.expect({ delayMs: 2000 }, { delayMs: 2000 });
    const late = perch.agents.get("bot", { timeoutSeconds: 0.2, maxRetries: 0 });
    await expect(late).rejects.toBeInstanceOf(TimeoutError);
    const startedAt = performance.now();
    const reason = new Error("enough");
    const abort = new AbortController();
    setTimeout(() => abort.abort(reason), 100);
    await expect(perch.agents.get("bot", { signal: abort.signal })).rejects.toBe(reason);
    // Also while it waits for the next try.
    proxy.expect({ status: 503, retryAfter: 30 });
    const waiting = perch.agents.get("bot", { signal: AbortSignal.timeout(200) });
    await expect(waiting).rejects.toMatchObject({ name: "TimeoutError" });
    expect(performance.now() - startedAt).toBeLessThan(1500);
  });

  test("a refusal is not repeated", async () => {
    await expect(perch.agents.get("missing")).rejects.toMatchObject({ status: 404 });
    expect(proxy.seen).toHaveLength(1);
  });
});
