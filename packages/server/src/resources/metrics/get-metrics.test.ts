import { randomBytes } from "node:crypto";
import { type Granularity, granularities, granularitySeconds, type MetricSeries } from "@perch/contract";
import { verifies } from "@perch/testkit/verifies.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import type { RunInput, RunOutcome } from "../../engine/messages.ts";
import { parsePublicId } from "../../platform/ids.ts";
import { createInsertRunRecord } from "../../runs/record/record-together.ts";

const perch = usePerch();
const operation = "GET /v1/agents/{agent_id}/metrics";
const dayMs = 86_400_000;
/** The start of yesterday: partitions start the day before. */
const yesterday = Math.floor(Date.now() / dayMs) * dayMs - dayMs;
const iso = (ms: number) => new Date(ms).toISOString();

function uuidAt(ms: number): string {
  const hex = ms.toString(16).padStart(12, "0");
  const rest = randomBytes(10).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${rest.slice(0, 3)}-8${rest.slice(3, 6)}-${rest.slice(6, 18)}`;
}

interface PlannedRun {
  readonly atMs: number;
  readonly durationMs: number;
  readonly tokens: number;
  readonly status: RunOutcome["status"];
  readonly environment: string;
  readonly version: string | null;
}

interface OrganisationWithAgent extends Organisation {
  readonly record: (planned: PlannedRun, id?: string) => Promise<boolean>;
}

async function createOrganisationWithAgent(): Promise<OrganisationWithAgent> {
  const organisation = await perch().createOrganisation();
  const agent = ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } })).data;
  const insertRunRecord = createInsertRunRecord(perch().server.core.db);
  const record: OrganisationWithAgent["record"] = async (planned, id = uuidAt(planned.atMs)) => {
    const run: RunInput = {
      id,
      acceptedAtMs: planned.atMs,
      organisationId: parsePublicId("organisation", organisation.id) ?? "",
      agentId: parsePublicId("agent", agent.id) ?? "",
      environment: planned.environment,
      version: planned.version,
      deploymentId: null,
      trial: null,
      definition: agent,
      message: "hello",
      userId: null,
      sessionId: null,
      streamed: false,
      trace: null,
    };
    const spent = { steps: 1, tokensUsed: planned.tokens, durationMs: planned.durationMs };
    const { status } = planned;
    const outcome: RunOutcome =
      status === "completed" ? { status, response: "hi", ...spent } : { status, error: "no", ...spent };
    const { inserted } = await insertRunRecord(run, outcome, { turn: 0, history: [] }, []);
    return inserted;
  };
  return { ...organisation, record };
}

const seriesOf = async ({ call }: Organisation, query: object): Promise<MetricSeries> =>
  ok(await call(operation, { params: { agent_id: "bot" }, query: query as never })).data;
const valuesOf = async (organisation: Organisation, query: object) =>
  (await seriesOf(organisation, query)).values.map(({ value }) => value);

/** 500 runs from 40 minutes before a midnight to 40 minutes after the next one, with gaps; some at the very borders. */
const from = yesterday - 40 * 60_000;
const until = yesterday + dayMs + 40 * 60_000;
const borders = [yesterday - 1, yesterday, yesterday + 3_600_000 - 1, yesterday + 3_600_000, yesterday + dayMs - 1];
/** Around the first midnight, at noon, around the second one. */
const bursts = [from, yesterday + 12 * 3_600_000, yesterday + dayMs - 30 * 60_000];
const planned: readonly PlannedRun[] = Array.from({ length: 500 }, (_, i) => ({
  atMs: borders[i] ?? (bursts[i % 3] ?? 0) + Math.floor(i / 3) * 23_457,
  durationMs: (i * i * 37) % 20_000,
  tokens: i,
  status: i % 50 === 7 ? "cancelled" : i % 9 === 0 ? "failed" : "completed",
  environment: i % 4 === 0 ? "staging" : "production",
  version: i % 5 === 0 ? null : `v${i % 3}`,
}));

/** The expected series, computed from the list of runs. */
function computeExpected(granularity: Granularity, runs: readonly PlannedRun[]) {
  const ms = granularitySeconds[granularity] * 1000;
  const first = Math.floor(from / ms) * ms;
  return Array.from({ length: Math.ceil((until - first) / ms) }, (_, i) => {
    const start = first + i * ms;
    const counted = runs.filter(
      ({ atMs, status }) => status !== "cancelled" && atMs >= start && atMs < start + ms && atMs < until,
    );
    const sum = (of: (run: PlannedRun) => number) => counted.reduce((all, run) => all + of(run), 0);
    const runsHere = counted.length;
    return {
      timestamp: iso(start),
      runs: runsHere,
      sorted: counted.map(({ durationMs }) => durationMs).toSorted((a, b) => a - b),
      throughput: runsHere / (ms / 60_000),
      tokens: sum(({ tokens }) => tokens),
      error_rate: runsHere && sum(({ status }) => (status === "failed" ? 1 : 0)) / runsHere,
      response_time: runsHere && sum(({ durationMs }) => durationMs) / runsHere,
    };
  });
}

describe(`${operation} of 500 runs over two midnights`, () => {
  let bot: OrganisationWithAgent;
  beforeAll(async () => {
    bot = await createOrganisationWithAgent();
    for (let i = 0; i < planned.length; i += 20)
      await Promise.all(planned.slice(i, i + 20).map((run) => bot.record(run)));
  });
  const rangeFor = (granularity: Granularity) =>
    // 1,500 values are a little more than a day of minutes: the range of minutes is that of the last part.
    granularity === "1m" ? { start: yesterday, skip: 40 } : { start: from, skip: 0 };

  describe.each(granularities)("by %s", (granularity) => {
    const { start, skip } = rangeFor(granularity);
    const query = { granularity, start_time: iso(start), end_time: iso(until) };

    test.each([
      ["response_time", "ms"],
      ["throughput", "requests/minute"],
      ["error_rate", "ratio"],
      ["tokens", "tokens"],
    ] as const)("%s matches the list of runs, in %s, including intervals with 0", async (metric, unit) => {
      verifies("metrics.names", "metrics.values", "metrics.granularities", "metrics.empty-buckets", "metrics.units");
      verifies("operations.get-metrics", "time-range.format", "metrics.statistic");
      const expected = computeExpected(granularity, planned).slice(skip);
      const series = await seriesOf(bot, { ...query, metric });
      expect(series).toMatchObject({
        metric,
        granularity,
        statistic: metric === "response_time" ? "avg" : null,
      });
      expect(series.values.map(({ timestamp }) => timestamp)).toEqual(expected.map(({ timestamp }) => timestamp));
      for (const [i, { value, unit: actualUnit }] of series.values.entries()) {
        expect(actualUnit).toBe(unit);
        expect(value).toBeCloseTo(expected[i]?.[metric] ?? -1, 5);
      }
      expect(series.values.some(({ value }) => value > 0)).toBe(true);
      if (granularity !== "1d") expect(series.values.some(({ value }) => value === 0)).toBe(true);
    });

    test.each([
      ["p50", 0.5],
      ["p95", 0.95],
      ["p99", 0.99],
    ] as const)("%s of the response time is right to within 6 %%", async (statistic, q) => {
      verifies("metrics.statistic");
      const expected = computeExpected(granularity, planned).slice(skip);
      const series = await seriesOf(bot, { ...query, metric: "response_time", statistic });
      expect(series.statistic).toBe(statistic);
      expect(series.values).toHaveLength(expected.length);
      for (const [i, { value }] of series.values.entries()) {
        const { sorted = [] } = expected[i] ?? {};
        const exact = sorted[Math.ceil(sorted.length * q) - 1] ?? 0;
        expect(Math.abs(value - exact)).toBeLessThanOrEqual(exact * 0.06);
      }
    });
  });

  test.each([
    [{ environment: "staging" }],
    [{ environment: "unused" }],
    [{ version: "v1" }],
    [{ environment: "production", version: "v2" }],
  ])("filters by %j", async (filter: { environment?: string; version?: string }) => {
    const wanted = planned.filter(
      ({ environment, version }) =>
        environment === (filter.environment ?? environment) && version === (filter.version ?? version),
    );
    const query = { ...filter, granularity: "1h", start_time: iso(from), end_time: iso(until) };
    const expected = computeExpected("1h", wanted);
    expect(await valuesOf(bot, { ...query, metric: "tokens" })).toEqual(expected.map(({ tokens }) => tokens));
    const medians = await valuesOf(bot, { ...query, metric: "response_time", statistic: "p50" });
    expect(medians.map((value) => value > 0)).toEqual(
      expected.map(({ sorted }) => (sorted[Math.ceil(sorted.length / 2) - 1] ?? 0) > 0),
    );
  });

  test("the range is half open: a run at its start counts, one at its end does not", async () => {
    verifies("time-range.format");
    const query = { metric: "throughput", granularity: "1m" };
    const at = (start: number, end: number) => ({ ...query, start_time: iso(start), end_time: iso(end) });
    const here = planned.filter(({ atMs, status }) => status !== "cancelled" && atMs >= yesterday);
    const inFirstMinute = here.filter(({ atMs }) => atMs < yesterday + 60_000).length;
    expect(inFirstMinute).toBeGreaterThan(0);
    expect(await valuesOf(bot, at(yesterday, yesterday + 60_000))).toEqual([inFirstMinute]);
    expect((await valuesOf(bot, at(yesterday - 60_000, yesterday))).length).toBe(1);
  });
});

describe(operation, () => {
  const run: PlannedRun = {
    atMs: yesterday + 1000,
    durationMs: 100,
    tokens: 5,
    status: "completed",
    environment: "production",
    version: null,
  };
  const day = { start_time: iso(yesterday), end_time: iso(yesterday + dayMs), granularity: "1d" };

  test("a run that is recorded again counts once; one that was cancelled does not count", async () => {
    const bot = await createOrganisationWithAgent();
    const id = uuidAt(run.atMs);
    expect(await bot.record(run, id)).toBe(true);
    expect(await bot.record(run, id)).toBe(false);
    expect(await bot.record({ ...run, status: "failed" }, id)).toBe(false);
    await bot.record({ ...run, status: "cancelled" });
    expect(await valuesOf(bot, { ...day, metric: "tokens" })).toEqual([5]);
    expect(await valuesOf(bot, { ...day, metric: "error_rate" })).toEqual([0]);
  });

  test("a hundred runs recorded at once are all counted", async () => {
    const bot = await createOrganisationWithAgent();
    await Promise.all(Array.from({ length: 100 }, () => bot.record(run)));
    expect(await valuesOf(bot, { ...day, metric: "tokens" })).toEqual([500]);
    expect(await valuesOf(bot, { ...day, metric: "response_time", statistic: "p99" })).toEqual([
      expect.closeTo(100, -1),
    ]);
  });

  test("the last 24 hours in steps of 5 minutes by default, otherwise the finest granularity with at most 300 values", async () => {
    verifies("metrics.default-granularity");
    const bot = await createOrganisationWithAgent();
    const series = await seriesOf(bot, { metric: "throughput" });
    expect(series.granularity).toBe("5m");
    expect([289, 290]).toContain(series.values.length);
    expect(Date.now() - Date.parse(series.values.at(-1)?.timestamp ?? "")).toBeLessThan(301_000);
    const over = async (ms: number) =>
      (await seriesOf(bot, { metric: "throughput", start_time: iso(yesterday - ms), end_time: iso(yesterday) }))
        .granularity;
    expect(await Promise.all([300, 301, 1500, 1501].map((minutes) => over(minutes * 60_000)))).toEqual([
      "1m",
      "5m",
      "5m",
      "1h",
    ]);
    expect(await over(301 * 3_600_000)).toBe("1d");
  });

  test("400 for more than 1,500 values", async () => {
    verifies("metrics.point-limit");
    const bot = await createOrganisationWithAgent();
    const ask = (minutes: number) =>
      bot.call(operation, {
        params: { agent_id: "bot" },
        query: {
          metric: "tokens",
          granularity: "1m",
          start_time: iso(yesterday - minutes * 60_000),
          end_time: iso(yesterday),
        },
      });
    expect(ok(await ask(1500)).data.values).toHaveLength(1500);
    expect(expectError(await ask(1501), "invalid_request").details?.[0]?.field).toBe("granularity");
  });

  test("has no values after a start that is ahead of the server's clock", async () => {
    verifies("time-range.ahead");
    const bot = await createOrganisationWithAgent();
    await bot.record(run);
    for (const start of [iso(Date.now() + 5000), "2999-01-01t00:00:00z"])
      for (const query of [{ metric: "throughput" }, { metric: "response_time", statistic: "p95" }] as const) {
        const answer = await bot.call(operation, {
          params: { agent_id: "bot" },
          query: { ...query, start_time: start },
        });
        expect(ok(answer).data).toMatchObject({ metric: query.metric, granularity: "1m", values: [] });
      }
  });

  test.each([
    [{}, "metric"],
    [{ metric: "happiness" }, "metric"],
    [{ metric: "tokens", granularity: "2m" }, "granularity"],
    [{ metric: "tokens", statistic: "p50" }, "statistic"],
    [{ metric: "response_time", statistic: "p42" }, "statistic"],
    [{ metric: "tokens", start_time: "yesterday" }, "start_time"],
    [{ metric: "tokens", end_time: "2026-01-01" }, "end_time"],
    [{ metric: "tokens", start_time: "0000-01-01T00:00:00Z" }, "start_time"],
    [{ metric: "tokens", end_time: "9999-12-31T23:59:59-23:59" }, "end_time"],
    [{ metric: "tokens", start_time: iso(yesterday), end_time: iso(yesterday) }, "start_time"],
    [{ metric: "tokens", limit: 5 }, "limit"],
  ])("400 for %j names %s", async (query, field) => {
    verifies("time-range.format");
    const bot = await createOrganisationWithAgent();
    const answer = await bot.call(operation, { params: { agent_id: "bot" }, query: query as never });
    expect(expectError(answer, "invalid_request").details?.map((detail) => detail.field)).toEqual([field]);
  });

  test("404 hides agents of other organisations; a key that belongs to one agent sees only its metrics", async () => {
    verifies("permissions.logs-and-metrics");
    const [mine, theirs] = [await createOrganisationWithAgent(), await createOrganisationWithAgent()];
    await theirs.record(run);
    const query = { ...day, metric: "tokens" } as const;
    const { id } = ok(await theirs.call("GET /v1/agents/{agent_id}", { params: { agent_id: "bot" } })).data;
    const ask = (agent_id: string, key?: string) =>
      mine.call(operation, { params: { agent_id }, query: query as never }, key);
    expect(expectError(await ask(id)).status).toBe(404);
    expect(await valuesOf(mine, query)).toEqual([0]);
    ok(await mine.call("POST /v1/agents", { body: { name: "other", model: "perch/echo" } }));
    const reader = await mine.createKey({ permissions: ["read"], agent_id: "bot" });
    expect((await ask("bot", reader)).status).toBe(200);
    expect((await ask("other", reader)).status).toBe(404);
    const writer = await mine.createKey({ permissions: ["write"] });
    expect((await ask("bot", writer)).status).toBe(403);
  });
});
