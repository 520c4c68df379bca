import { tierLimits } from "@perch/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serviceUrl } from "../../../../scripts/testbed/scratch-database.ts";
import { verifies } from "../../../../spec/verifies.ts";
import { ok, refusal, send } from "../../test/contract-client.ts";
import { type Node, type Organisation, startPerch } from "../../test/harness.ts";

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
  let nodes: Node[];
  beforeAll(async () => {
    perch = await startPerch(withValkey ? { valkeyUrl: serviceUrl("PERCH_VALKEY_URL") } : {});
    nodes = withValkey ? [perch, await perch.addNode()] : [perch];
  });
  afterAll(() => perch.stop());

  const me = (i: number, { adminKey }: Organisation) =>
    send((nodes[i % nodes.length] ?? perch).url, adminKey, "GET /v1/me", {});

  test("the burst passes at once, the next is refused with when to come back, and then it may", async () => {
    verifies("errors.code.rate-limited", "errors.retry-after", "errors.retry-after-unit", "rate-limit.counted-per");
    const organisation = await perch.newOrganisation("free");
    const startedAt = Date.now();
    const answers = await Promise.all(Array.from({ length: 130 }, (_, i) => me(i, organisation)));
    const passed = answers.filter(({ status }) => status === 200).length;
    const refilled = Math.ceil((Date.now() - startedAt) / 1000);
    expect(passed).toBeGreaterThanOrEqual(tierLimits.free.burst);
    expect(passed).toBeLessThanOrEqual(tierLimits.free.burst + refilled);
    const refused = answers.find(({ status }) => status === 429);
    if (!refused) throw new Error("nobody was refused");
    const error = refusal(refused);
    expect(error).toMatchObject({ status: 429, code: "rate_limited", retry_after: 1 });
    expect(refused.headers.get("retry-after")).toBe("1");
    await new Promise((resolve) => setTimeout(resolve, 1050));
    expect((await me(0, organisation)).status).toBe(200);
  });

  test("every authenticated answer tells what is left, also a refusal", async () => {
    verifies(
      "rate-limit.header-limit",
      "rate-limit.header-remaining",
      "rate-limit.header-reset",
      "rate-limit.reset-unit",
    );
    const { call, newKey } = await perch.newOrganisation("pro");
    const viewer = await newKey({ role: "viewer" });
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
    const { call } = await perch.newOrganisation("pro");
    const rateLimit = { enabled: true, requests: 3, window: "1h" };
    ok(await call("POST /v1/agents", { body: { name: "slow", model: "perch/echo", security: { rateLimit } } }));
    ok(await call("POST /v1/agents", { body: { name: "free", model: "perch/echo" } }));
    const get = (agent_id: string) => call("GET /v1/agents/{agent_id}", { params: { agent_id } });
    for (let i = 0; i < 3; i++) expect((await get("slow")).status).toBe(200);
    const refused = refusal(await get("slow"));
    expect(refused).toMatchObject({ code: "rate_limited", message: expect.stringContaining("this agent") });
    expect(refused.retry_after).toBeGreaterThan(1100);
    // The second refusal comes from memory and must know no less.
    expect(refusal(await get("slow")).retry_after).toBeGreaterThan(1100);
    const before = headersOf((await get("free")).headers).remaining;
    for (let i = 0; i < 5; i++) expect((await get("slow")).status).toBe(429);
    expect(headersOf((await get("free")).headers).remaining).toBeGreaterThanOrEqual(before - 1);
    // A limit keeps nobody from lifting it.
    ok(
      await call("PATCH /v1/agents/{agent_id}", {
        params: { agent_id: "slow" },
        body: { security: { rateLimit: null } },
      }),
    );
    await expect.poll(async () => (await get("slow")).status, { timeout: 2000 }).toBe(200);
  });

  test("a key that belongs to another agent neither spends nor learns an agent's limit", async () => {
    const { call, newKey } = await perch.newOrganisation("pro");
    const rateLimit = { enabled: true, requests: 2, window: "1h" };
    ok(await call("POST /v1/agents", { body: { name: "slow", model: "perch/echo", security: { rateLimit } } }));
    ok(await call("POST /v1/agents", { body: { name: "mine", model: "perch/echo" } }));
    const bound = await newKey({ role: "viewer", agent_id: "mine" });
    const get = (as?: string) => call("GET /v1/agents/{agent_id}", { params: { agent_id: "slow" } }, as);
    for (let i = 0; i < 5; i++) expect((await get(bound)).status).toBe(404);
    expect((await get()).status).toBe(200);
    expect((await get()).status).toBe(200);
    expect((await get()).status).toBe(429);
    expect((await get(bound)).status).toBe(404);
  });

  test("a stranger is limited by its address, and a known key behind that address is not", async () => {
    const limited = await startPerch({
      strangerRequestsPerMinute: 5,
      ...(withValkey && { valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }),
    });
    const { adminKey } = await limited.newOrganisation();
    const stranger = () => send(limited.url, undefined, "GET /v1/me", {});
    expect((await send(limited.url, adminKey, "GET /v1/me", {})).status).toBe(200);
    const statuses: number[] = [];
    for (let i = 0; i < 6; i++) statuses.push((await stranger()).status);
    // Other files share the address and Valkey, so fewer may pass, never more.
    expect(statuses.at(-1)).toBe(429);
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(4);
    expect((await send(limited.url, adminKey, "GET /v1/me", {})).status).toBe(200);
    expect((await fetch(`${limited.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${limited.url}/openapi.json`)).headers.get("x-ratelimit-limit")).toBeNull();
    await limited.stop();
  });

  test("a revoked key eats from its address, not from its organisation", async () => {
    const { call, newKey } = await perch.newOrganisation("free");
    const key = await newKey({ role: "viewer" });
    const { id } = ok(await call("GET /v1/me", {}, key)).data.key;
    ok(await call("DELETE /v1/keys/{key_id}", { params: { key_id: id } }));
    for (let i = 0; i < 150; i++) expect((await call("GET /v1/me", {}, key)).status).toBe(401);
    expect((await call("GET /v1/me", {})).status).toBe(200);
  });
});
