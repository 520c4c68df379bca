import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { parsePublicId } from "../../platform/ids.ts";

const perch = usePerch();
const operation = "GET /v1/metrics";
const hourMs = 3_600_000;
const thisHour = Math.floor(Date.now() / hourMs) * hourMs;
const iso = (ms: number) => new Date(ms).toISOString();
/** Three whole hours. */
const range = { start_time: iso(thisHour - 2 * hourMs), end_time: iso(thisHour + hourMs), granularity: "1h" as const };

interface Rollup {
  readonly agent: string;
  readonly startsAt: number;
  readonly runs: number;
  readonly failed?: number;
  readonly tokens?: number;
  readonly environment?: string;
}

const insertRollups = ({ id }: Organisation, rollups: readonly Rollup[]) =>
  withClient(perch().database.adminUrl, async (client) => {
    for (const { agent, startsAt, runs, failed = 0, tokens = 0, environment = "production" } of rollups)
      await client.query(
        `insert into run_rollups (organisation_id, agent_id, granularity, starts_at, environment, version, shard, runs, failed, tokens,
                                  duration_ms, cost_micros, duration_buckets)
           select $1, id, 'hour', $3, $4, 'v1', shard, $5, $6, $7, 100, 500000, '{}'
             from agents, unnest('{0,1}'::int[]) shard where organisation_id = $1 and name = $2`,
        [parsePublicId("organisation", id), agent, iso(startsAt), environment, runs, failed, tokens],
      );
  });

let organisation: Organisation;
beforeAll(async () => {
  organisation = await perch().createOrganisation();
  for (const name of ["first", "second", "third"])
    ok(await organisation.call("POST /v1/agents", { body: { name, model: "perch/echo" } }));
  // Each is stored in two shards, so that the totals are twice this.
  await insertRollups(organisation, [
    { agent: "first", startsAt: thisHour - 2 * hourMs, runs: 30, failed: 3, tokens: 7 },
    { agent: "first", startsAt: thisHour, runs: 60 },
    { agent: "second", startsAt: thisHour, runs: 30, environment: "staging" },
    { agent: "second", startsAt: thisHour - 5 * hourMs, runs: 1000 },
  ]);
});

const metricsOf = async (query: object, as?: string) => ok(await organisation.call(operation, { query }, as)).data;
const valuesOf = async (query: object, as?: string) => {
  const { series } = await metricsOf({ ...range, ...query }, as);
  return series.map(({ agent_name, metric, values }) => [agent_name, metric, values]);
};

describe(operation, () => {
  test("a series for each agent and metric, a value for each interval, newest agents first", async () => {
    verifies("metrics.of-several-agents");
    const { granularity, timestamps, has_more } = await metricsOf(range);
    expect({ granularity, has_more }).toEqual({ granularity: "1h", has_more: false });
    expect(timestamps).toEqual([thisHour - 2 * hourMs, thisHour - hourMs, thisHour].map(iso));
    expect(await valuesOf({})).toEqual([
      ["third", "throughput", [0, 0, 0]],
      ["third", "error_rate", [0, 0, 0]],
      ["second", "throughput", [0, 0, 1]],
      ["second", "error_rate", [0, 0, 0]],
      ["first", "throughput", [1, 0, 2]],
      ["first", "error_rate", [0.1, 0, 0]],
    ]);
  });

  test("shows what Get metrics shows of each agent", async () => {
    verifies("metrics.of-several-agents");
    const metrics = "response_time,throughput,error_rate,tokens,cost";
    const { series } = await metricsOf({ ...range, metrics });
    expect(series).toHaveLength(15);
    for (const { agent_id, metric, unit, values } of series) {
      const query = { ...range, metric };
      const one = ok(
        await organisation.call("GET /v1/agents/{agent_id}/metrics", { params: { agent_id }, query }),
      ).data;
      expect(one.values.map(({ value }) => value)).toEqual(values);
      expect(new Set(one.values.map((value) => value.unit))).toEqual(new Set([unit]));
    }
  });

  test("of named agents, by id or name, in the order in which they are named, each once", async () => {
    const { series } = await metricsOf({ ...range, metrics: "tokens" });
    const third = series.find(({ agent_name }) => agent_name === "third")?.agent_id ?? "";
    expect(await valuesOf({ agent_ids: `first, ${third},third`, metrics: "tokens" })).toEqual([
      ["first", "tokens", [14, 0, 0]],
      ["third", "tokens", [0, 0, 0]],
    ]);
  });

  test("of one environment", async () => {
    expect(await valuesOf({ agent_ids: "first,second", metrics: "throughput", environment: "staging" })).toEqual([
      ["first", "throughput", [0, 0, 0]],
      ["second", "throughput", [0, 0, 1]],
    ]);
  });

  test("a key that belongs to one agent sees that agent only, and 404 hides the others", async () => {
    const key = await organisation.createKey({ role: "viewer", agent_id: "first" });
    expect(await valuesOf({ metrics: "throughput" }, key)).toEqual([["first", "throughput", [1, 0, 2]]]);
    expectError(await organisation.call(operation, { query: { agent_ids: "first,second" } }, key), "not_found");
  });

  test("the default is the last 24 hours by the hour; a range has at most 120 intervals", async () => {
    const { granularity, timestamps } = await metricsOf({});
    expect(granularity).toBe("1h");
    expect(timestamps.length).toBeLessThanOrEqual(25);
    const minutes = { granularity: "1m", start_time: iso(thisHour - 2 * hourMs), end_time: iso(thisHour) };
    expect((await metricsOf(minutes)).timestamps).toHaveLength(120);
    const query = { ...minutes, end_time: iso(thisHour + 1) } as const;
    const { details } = expectError(await organisation.call(operation, { query: query as never }), "invalid_request");
    expect(details?.[0]).toMatchObject({ field: "granularity", error: expect.stringContaining("more than 120") });
  });

  test("without agent_ids the newest 100 agents, and shows that there are more", async () => {
    const { call } = await perch().createOrganisation();
    for (let i = 0; i < 101; i++) ok(await call("POST /v1/agents", { body: { name: `a${i}`, model: "perch/echo" } }));
    const { series, has_more } = ok(await call(operation, { query: { metrics: "tokens" } })).data;
    expect(series.map(({ agent_name }) => agent_name)).toEqual(Array.from({ length: 100 }, (_, i) => `a${100 - i}`));
    expect(has_more).toBe(true);
  });

  test.each([
    ["metrics", { metrics: "mood" }],
    ["metrics", { metrics: "" }],
    ["metrics", { metrics: "tokens," }],
    ["agent_ids", { agent_ids: Array.from({ length: 101 }, (_, i) => `a${i}`).join(",") }],
    ["granularity", { granularity: "2m" }],
    ["agent_id", { agent_id: "first" }],
  ])("400 names %s for %j", async (field, query) => {
    const error = expectError(await organisation.call(operation, { query: query as never }), "invalid_request");
    expect(error.details?.[0]?.field).toBe(field);
  });

  test("404 for an agent that does not exist", async () => {
    expectError(await organisation.call(operation, { query: { agent_ids: "first,nobody" } }), "not_found");
  });
});
