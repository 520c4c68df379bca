import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signIn } from "../../test/support/browser.ts";
import { expectError, ok, send } from "../../test/support/contract-client.ts";
import { type ApiNode, startPerch } from "../../test/support/harness.ts";

type Running = Awaited<ReturnType<typeof startPerch>>;

const headersOf = (headers: Headers) => ({
  limit: Number(headers.get("x-ratelimit-limit")),
  remaining: Number(headers.get("x-ratelimit-remaining")),
  reset: Number(headers.get("x-ratelimit-reset")),
});

describe.each([
  ["with Valkey, over two nodes", true],
  ["without Valkey, on one node", false],
])("rate limits %s", (_, withValkey) => {
  let perch: Running;
  let nodes: ApiNode[];
  beforeAll(async () => {
    perch = await startPerch(withValkey ? { valkeyUrl: serviceUrl("PERCH_VALKEY_URL") } : {});
    nodes = withValkey ? [perch, await perch.addApiNode()] : [perch];
  });
  afterAll(() => perch.stop());

  const me = (i: number, key: string) => send((nodes[i % nodes.length] ?? perch).url, key, "GET /v1/me", {});

  test("the burst passes at once, the next is refused with a Retry-After, and passes after it", async () => {
    verifies("errors.code.rate-limited", "errors.retry-after", "errors.retry-after-unit", "rate-limit.counted-per");
    verifies("rate-limit.reset-unit");
    const { adminKey, createKey } = await perch.createOrganisation("free");
    const startedAt = Date.now();
    // Half of the requests come with another key, whose creation was the first request.
    const keys = [adminKey, await createKey({ role: "viewer" })];
    const answers = await Promise.all(Array.from({ length: 130 }, (_, i) => me(i, keys[(i >> 1) % 2] ?? adminKey)));
    const passed = 1 + answers.filter(({ status }) => status === 200).length;
    const refilled = Math.ceil((Date.now() - startedAt) / 1000);
    expect(passed).toBeGreaterThanOrEqual(100);
    expect(passed).toBeLessThanOrEqual(100 + refilled);
    const refused = answers.find(({ status }) => status === 429);
    if (!refused) throw new Error("no request was refused");
    const error = expectError(refused);
    expect(error).toMatchObject({ status: 429, code: "rate_limited", retry_after: 1 });
    expect(refused.headers.get("retry-after")).toBe("1");
    // An empty bucket of 100 that gains one each second is full after 100 seconds.
    const { limit, remaining, reset } = headersOf(refused.headers);
    expect([limit, remaining]).toEqual([100, 0]);
    expect(reset - startedAt / 1000).toBeGreaterThan(98);
    expect(reset - startedAt / 1000).toBeLessThan(102 + refilled);
    await new Promise((resolve) => setTimeout(resolve, 1050));
    expect((await me(0, adminKey)).status).toBe(200);
  });

  test("every authenticated response has the rate limit headers, refusals too", async () => {
    verifies(
      "rate-limit.header-limit",
      "rate-limit.header-remaining",
      "rate-limit.header-reset",
      "rate-limit.reset-unit",
    );
    const { call, createKey } = await perch.createOrganisation("pro");
    const viewer = await createKey({ role: "viewer" });
    const answers = [
      await call("GET /v1/me", {}),
      await call("GET /v1/agents/{agent_id}", { params: { agent_id: "nobody" } }),
      await call("GET /v1/agents", { query: { limit: 0 } }),
      await call("GET /v1/keys", { query: {} }, viewer),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 400, 403]);
    const seen = answers.map(({ headers }) => headersOf(headers));
    for (const [i, { limit, remaining, reset }] of seen.entries()) {
      expect(limit).toBe(2000);
      expect(remaining).toBeLessThan(2000);
      expect(remaining).toBeGreaterThan(1980 - i);
      expect(reset).toBeGreaterThanOrEqual(Math.floor(Date.now() / 1000) - 1);
      expect(reset).toBeLessThan(Date.now() / 1000 + 5);
    }
    expect(answers[0]?.headers.get("ratelimit-policy")).toBe('"organisation";q=2000;w=120');
    expect(answers[0]?.headers.get("ratelimit")).toMatch(/^"organisation";r=19\d\d;t=\d+$/);
    expect((await send(perch.url, undefined, "GET /v1/me", {})).headers.get("x-ratelimit-limit")).toBeNull();
  });

  test("an agent's own limit holds for its paths, and a refusal by it costs the organisation nothing", async () => {
    verifies("security.rate-limit-enforced");
    const { call } = await perch.createOrganisation("pro");
    const rateLimit = { enabled: true, requests: 3, window: "1h" };
    ok(await call("POST /v1/agents", { body: { name: "slow", model: "perch/echo", security: { rateLimit } } }));
    ok(await call("POST /v1/agents", { body: { name: "free", model: "perch/echo" } }));
    const get = (agent_id: string) => call("GET /v1/agents/{agent_id}", { params: { agent_id } });
    for (let i = 0; i < 3; i++) expect((await get("slow")).status).toBe(200);
    const answer = await get("slow");
    const refused = expectError(answer);
    expect(refused).toMatchObject({
      code: "rate_limited",
      message: expect.stringContaining("this agent (its `security.rateLimit`)"),
    });
    expect(refused.retry_after).toBeGreaterThan(1100);
    // Its own numbers: three an hour, none left, and full again in nearly an hour.
    const { limit, remaining, reset } = headersOf(answer.headers);
    expect([limit, remaining]).toEqual([3, 0]);
    expect(reset - Date.now() / 1000).toBeGreaterThan(3500);
    expect(answer.headers.get("ratelimit-policy")).toBe('"agent";q=3;w=3600');
    expect(answer.headers.get("ratelimit")).toMatch(/^"agent";r=0;t=\d+$/);
    // The second refusal comes from the cache and must give the same wait.
    expect(expectError(await get("slow")).retry_after).toBeGreaterThan(1100);
    const before = headersOf((await get("free")).headers).remaining;
    for (let i = 0; i < 5; i++) expect((await get("slow")).status).toBe(429);
    expect(headersOf((await get("free")).headers).remaining).toBeGreaterThanOrEqual(before - 1);
    // The limit does not apply to the request that lifts it.
    ok(
      await call("PATCH /v1/agents/{agent_id}", {
        params: { agent_id: "slow" },
        body: { security: { rateLimit: null } },
      }),
    );
    await expect.poll(async () => (await get("slow")).status).toBe(200);
  });

  test("a key that belongs to another agent neither spends nor learns an agent's limit", async () => {
    const { call, createKey } = await perch.createOrganisation("pro");
    const rateLimit = { enabled: true, requests: 2, window: "1h" };
    ok(await call("POST /v1/agents", { body: { name: "slow", model: "perch/echo", security: { rateLimit } } }));
    ok(await call("POST /v1/agents", { body: { name: "mine", model: "perch/echo" } }));
    const bound = await createKey({ role: "viewer", agent_id: "mine" });
    const get = (as?: string) => call("GET /v1/agents/{agent_id}", { params: { agent_id: "slow" } }, as);
    for (let i = 0; i < 5; i++) expect((await get(bound)).status).toBe(404);
    expect((await get()).status).toBe(200);
    expect((await get()).status).toBe(200);
    expect((await get()).status).toBe(429);
    expect((await get(bound)).status).toBe(404);
  });

  test("unauthenticated requests are limited by address, and a known key at that address is not", async () => {
    const limited = await startPerch({
      unauthenticatedRequestsPerMinute: 5,
      ...(withValkey && { valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }),
    });
    const { adminKey } = await limited.createOrganisation();
    const sendUnauthenticated = () => send(limited.url, undefined, "GET /v1/me", {});
    expect((await send(limited.url, adminKey, "GET /v1/me", {})).status).toBe(200);
    const statuses: number[] = [];
    for (let i = 0; i < 6; i++) statuses.push((await sendUnauthenticated()).status);
    // Other files share the address and Valkey, so fewer may pass, never more.
    expect(statuses.at(-1)).toBe(429);
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(4);
    expect((await send(limited.url, adminKey, "GET /v1/me", {})).status).toBe(200);
    expect((await fetch(`${limited.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${limited.url}/openapi.json`)).headers.get("x-ratelimit-limit")).toBeNull();
    await limited.stop();
  });

  test("what people read in the console takes nothing from callers of the agents, and has an end", async () => {
    const { call, adminKey } = await perch.createOrganisation("free");
    const rateLimit = { enabled: true, requests: 2, window: "1h" };
    ok(await call("POST /v1/agents", { body: { name: "slow", model: "perch/echo", security: { rateLimit } } }));
    const page = await signIn(perch.url, { api_key: adminKey });
    const remaining = async () => headersOf((await call("GET /v1/me", {})).headers).remaining;
    const before = await remaining();
    const read = async () => (await page.send("/v1/agents/slow")).status;
    const reads = await Promise.all(Array.from({ length: 200 }, read));
    expect(new Set(reads)).toEqual(new Set([200]));
    expect(await remaining()).toBeGreaterThanOrEqual(before - 1);
    // A change counts as that of any key, and so does a run.
    const { status } = await page.send("/v1/agents", { method: "POST", body: { name: "other", model: "perch/echo" } });
    expect([status, (await remaining()) < before]).toEqual([201, true]);
    const readUntilRefused = async () => {
      const answers = await Promise.all(Array.from({ length: 300 }, () => page.send("/v1/me")));
      return answers.find((answer) => answer.status === 429)?.error?.message;
    };
    await expect.poll(readUntilRefused).toContain("this organisation's console");
    expect((await call("GET /v1/me", {})).status).toBe(200);
  });

  test("a revoked key counts against its address, not its organisation", async () => {
    const { call, createKey } = await perch.createOrganisation("free");
    const key = await createKey({ role: "viewer" });
    const { id } = ok(await call("GET /v1/me", {}, key)).data.key;
    ok(await call("DELETE /v1/keys/{key_id}", { params: { key_id: id } }));
    for (let i = 0; i < 150; i++) expect((await call("GET /v1/me", {}, key)).status).toBe(401);
    expect((await call("GET /v1/me", {})).status).toBe(200);
  });
});
