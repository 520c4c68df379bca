import { setTimeout as sleep } from "node:timers/promises";
import { answers, equal, holds, refuses, single } from "../expectations.ts";
import type { Answer } from "../http-client.ts";
import { onOwnServer, type Section, type Statement, statement } from "../statement.ts";
import { agent, newName, type World } from "../world.ts";

type Tier = "free" | "pro" | "enterprise";
const tiers: Readonly<Record<Tier, readonly [perMinute: number, burst: number]>> = {
  free: [60, 100],
  pro: [1000, 2000],
  enterprise: [10_000, 20_000],
};

const ask = (world: World, tier: Tier) => world.call("GET", "/v1/agents?limit=1", { key: world.own().keys[tier] });
const numberIn = ({ headers }: Answer, name: string): number => {
  const value = String(headers[name]);
  holds(/^\d+$/.test(value), `${name} is ${value}, no integer`);
  return Number(value);
};

/** Sends requests of the Free tier until one is refused. Returns how many were answered, and the refusal. */
const exhausted = (world: World) =>
  world.once("exhausted", async () => {
    const startedMs = Date.now();
    for (let count = 0; count < 400; count += 1) {
      const answer = await ask(world, "free");
      if (answer.status === 429) return { answered: count, refusal: answer, seconds: (Date.now() - startedMs) / 1000 };
      answers(answer, 200, `request ${count + 1}`);
    }
    throw new Error("400 requests were answered");
  });

const tierRows: readonly Statement[] = (Object.keys(tiers) as Tier[]).flatMap((tier) => {
  const [perMinute, burst] = tiers[tier];
  return [
    onOwnServer(`limits.${tier}-rate`, `${tier}: ${perMinute} requests per minute`, async (world) => {
      // The policy (IETF draft) gives the seconds in which a whole burst refills.
      const { headers } = await ask(world, tier);
      const [, quota, window] = /;q=(\d+);w=(\d+)/.exec(String(headers["ratelimit-policy"])) ?? [];
      equal((Number(quota) * 60) / Number(window), perMinute, "requests per minute");
    }),
    onOwnServer(`limits.${tier}-burst`, `${tier}: burst ${burst}`, async (world) => {
      equal(numberIn(await ask(world, tier), "x-ratelimit-limit"), burst, "X-RateLimit-Limit");
      if (tier !== "free") return;
      const { answered, seconds } = await exhausted(world);
      // One was taken before, and one refills each second.
      holds(answered >= burst - 4 && answered <= burst + Math.ceil(seconds), `${answered} answered in ${seconds} s`);
    }),
  ];
});

const headers: readonly Statement[] = [
  statement("limits.header-limit", "header X-RateLimit-Limit (integer)", async (world) => {
    holds(numberIn(await world.call("GET", "/v1/agents"), "x-ratelimit-limit") > 0, "X-RateLimit-Limit");
  }),
  statement("limits.header-remaining", "header X-RateLimit-Remaining (integer)", async (world) => {
    const answer = await world.call("GET", "/v1/agents");
    const remaining = numberIn(answer, "x-ratelimit-remaining");
    holds(remaining < numberIn(answer, "x-ratelimit-limit"), `${remaining} remain after a request`);
  }),
  statement("limits.header-reset", "header X-RateLimit-Reset (integer timestamp)", async (world) => {
    const reset = numberIn(await world.call("GET", "/v1/agents"), "x-ratelimit-reset");
    const inSeconds = reset - Date.now() / 1000;
    holds(inSeconds > -2 && inSeconds < 125, `in ${inSeconds} s`);
  }),
  onOwnServer("limits.exceeded", "Exceeding the limit yields 429 rate_limited", async (world) => {
    const { refusal } = await exhausted(world);
    const { retry_after: seconds } = refuses(refusal, 429, "rate_limited");
    equal(numberIn(refusal, "x-ratelimit-remaining"), 0, "X-RateLimit-Remaining");
    await sleep(seconds * 1000 + 50);
    answers(await ask(world, "free"), 200, "after retry_after seconds");
  }),
];

const listPaths = async (world: World) => [
  "/v1/agents",
  "/v1/keys",
  "/v1/webhooks",
  `${(await agent(world)).path}/deployments`,
];

const pages: readonly Statement[] = [
  statement("limits.page-default", "Pagination: limit default 10", async (world) => {
    for (const path of await listPaths(world)) {
      equal(answers(await world.call("GET", path), 200).pagination.limit, 10, `limit of ${path}`);
    }
  }),
  statement("limits.page-maximum", "Pagination: limit maximum 100", async (world) => {
    for (const path of await listPaths(world)) {
      equal(answers(await world.call("GET", `${path}?limit=100`), 200).pagination.limit, 100, `limit of ${path}`);
      refuses(await world.call("GET", `${path}?limit=101`), 400, "invalid_request", `limit=101 of ${path}`);
    }
  }),
  statement("limits.offset", "offset starts the page", async (world) => {
    const { data: all } = answers(await world.call("GET", "/v1/agents?limit=4"), 200);
    const { data, pagination } = answers(await world.call("GET", "/v1/agents?limit=2&offset=2"), 200);
    equal([data, pagination.offset], [all.slice(2), 2], "the page and its offset");
  }),
  statement("limits.total", "the response reports total", async (world) => {
    const first = answers(await world.call("GET", "/v1/agents?limit=100"), 200);
    let seen = first.data.length;
    while (seen < first.pagination.total) {
      const { data } = answers(await world.call("GET", `/v1/agents?limit=100&offset=${seen}`), 200);
      holds(data.length > 0, `${seen} of ${first.pagination.total} agents were listed`);
      seen += data.length;
    }
    equal(seen, first.pagination.total, "total");
  }),
  statement("limits.has-more", "the response reports has_more", async (world) => {
    const { total } = answers(await world.call("GET", "/v1/agents?limit=1"), 200).pagination;
    const hasMore = async (offset: number) =>
      answers(await world.call("GET", `/v1/agents?limit=1&offset=${offset}`), 200).pagination.has_more;
    equal([await hasMore(0), await hasMore(total - 2), await hasMore(total - 1)], [true, true, false], "has_more");
  }),
];

const create = (world: World, name: string, key: string) =>
  world.call("POST", "/v1/agents", { body: { name, model: "perch/echo" }, headers: { "idempotency-key": key } });

const idempotency: readonly Statement[] = [
  statement("limits.safe-retries", "the header Idempotency-Key makes retries safe", async (world) => {
    const [name, key] = [newName(), newName()];
    const first = single(await create(world, name, key), 201);
    equal(single(await create(world, name, key), 201, "the retry"), first, "the answer to the retry");
    const { path } = await agent(world);
    const invoke = () =>
      world.call("POST", `${path}/invoke`, { body: { message: "once" }, headers: { "idempotency-key": key } });
    const runs = await Promise.all([invoke(), invoke(), invoke()]);
    const ids = new Set(runs.map((answer) => single(answer, 200).request_id));
    equal(ids.size, 1, "runs of three requests at once");
  }),
  onOwnServer("limits.24-hours", "a key is valid for 24 hours", async (world) => {
    const [name, key] = [newName(), newName()];
    const age = async (by: string) =>
      world.own().sql(`update idempotent_answers set created_at = created_at - interval '${by}'`);
    const first = single(await create(world, name, key), 201);
    holds((await age("23 hours 59 minutes")) > 0, "no stored answer");
    equal(single(await create(world, name, key), 201, "the retry a minute before"), first, "the answer");
    await age("2 minutes");
    refuses(await create(world, name, key), 409, "conflict", "after 24 hours it is a new request, for a name in use");
  }),
];

export const limits: Section = { title: "Limits", statements: [...tierRows, ...headers, ...pages, ...idempotency] };
