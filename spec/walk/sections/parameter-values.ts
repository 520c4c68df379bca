import { answers, equal, holds, refuses, single } from "../expectations.ts";
import { type Statement, statement } from "../statement.ts";
import { agent, newAgent, newName, run, type World } from "../world.ts";

type Entry = { readonly timestamp: string; readonly level: string; readonly message: string };

/** An agent with one log entry of each level, a minute apart. */
const loggedAgent = (world: World) =>
  world.once("logged agent", async () => {
    const { path } = await newAgent(world);
    const startMs = Date.now() - 600_000;
    const times = [0, 1, 2, 3].map((minute) => new Date(startMs + minute * 60_000).toISOString());
    const entries = ["debug", "info", "warn", "error"].map((level, index) => ({
      level,
      message: `${level} entry`,
      timestamp: times[index],
    }));
    single(await world.call("POST", `${path}/logs`, { body: { entries } }), 201, "Add log entries");
    return { path, times };
  });

const logs = async (world: World, query: string): Promise<Entry[]> => {
  const { path } = await loggedAgent(world);
  return answers(await world.call("GET", `${path}/logs?${query}`), 200).data;
};
const messages = (entries: readonly Entry[]): string[] => entries.map(({ message }) => message).sort();

const logParameters: readonly Statement[] = [
  ...["debug", "info", "warn", "error"].map((level) =>
    statement(`logs.level-${level}`, `level (Get Logs): ${level}`, async (world) => {
      equal(messages(await logs(world, `level=${level}`)), [`${level} entry`], "entries");
    }),
  ),
  statement("logs.level-others", "level (Get Logs): no other value", async (world) => {
    const { path } = await loggedAgent(world);
    refuses(await world.call("GET", `${path}/logs?level=loud`), 400, "invalid_request");
  }),
  statement("logs.start-time", "Get Logs takes start_time", async (world) => {
    const { times } = await loggedAgent(world);
    equal(messages(await logs(world, `start_time=${times[2]}`)), ["error entry", "warn entry"], "entries");
  }),
  statement("logs.end-time", "Get Logs takes end_time", async (world) => {
    const { times } = await loggedAgent(world);
    equal(messages(await logs(world, `end_time=${times[2]}`)), ["debug entry", "info entry"], "entries");
  }),
  statement("logs.limit", "Get Logs takes limit", async (world) => {
    equal((await logs(world, "limit=3")).length, 3, "entries");
  }),
  statement("lists.filters", "list endpoints take filters as query parameters", async (world) => {
    equal((await logs(world, "level=warn&limit=10")).length, 1, "entries of the level");
    const { id } = await agent(world);
    const { data } = answers(await world.call("GET", `/v1/keys?agent_id=${id}&status=revoked`), 200);
    equal(data, [], "revoked keys of the agent");
  }),
];

const metrics = async (world: World, query: string) =>
  single(await world.call("GET", `${(await agent(world)).path}/metrics?${query}`), 200);
const secondsBetween = (values: readonly { timestamp: string }[]): number =>
  (Date.parse(values[1]?.timestamp ?? "") - Date.parse(values[0]?.timestamp ?? "")) / 1000;
const day = "start_time=2026-01-01T00:00:00Z&end_time=2026-01-03T00:00:00Z";
const hour = "start_time=2026-01-01T00:00:00Z&end_time=2026-01-01T01:00:00Z";

const metricParameters: readonly Statement[] = [
  ...["response_time", "throughput", "error_rate"].map((metric) =>
    statement(`metrics.${metric.replace("_", "-")}`, `metric (Get Metrics): ${metric}`, async (world) => {
      await run(world);
      const found = await metrics(world, `metric=${metric}&granularity=1h`);
      equal(found.metric, metric, "metric");
      holds(
        found.values.some(({ value }: { value: number }) => value >= 0),
        "no value",
      );
      const total = found.values.reduce((sum: number, { value }: { value: number }) => sum + value, 0);
      holds(metric === "error_rate" ? total === 0 : total > 0, `the sum of ${metric} is ${total} after a run`);
    }),
  ),
  ...Object.entries({ "1m": 60, "5m": 300, "1h": 3600, "1d": 86_400 }).map(([granularity, seconds]) =>
    statement(`metrics.granularity-${granularity}`, `granularity (Get Metrics): ${granularity}`, async (world) => {
      const range = seconds < 3600 ? hour : day;
      const { values } = await metrics(world, `metric=throughput&granularity=${granularity}&${range}`);
      equal(secondsBetween(values), seconds, "seconds between two values");
    }),
  ),
  statement("metrics.others", "metric and granularity: no other value", async (world) => {
    const { path } = await agent(world);
    refuses(await world.call("GET", `${path}/metrics?metric=mood`), 400, "invalid_request");
    refuses(await world.call("GET", `${path}/metrics?metric=throughput&granularity=2m`), 400, "invalid_request");
  }),
  statement("metrics.start-time", "Get Metrics takes start_time", async (world) => {
    const { values } = await metrics(world, `metric=throughput&granularity=1h&${day}`);
    equal(Date.parse(values[0].timestamp), Date.parse("2026-01-01T00:00:00Z"), "the first value's time");
  }),
  statement("metrics.end-time", "Get Metrics takes end_time", async (world) => {
    const { values } = await metrics(world, `metric=throughput&granularity=1h&${day}`);
    equal(Date.parse(values.at(-1).timestamp), Date.parse("2026-01-02T23:00:00Z"), "the last value's time");
  }),
];

/** Twelve agents, so that there are two pages of ten. */
const listOf = async (world: World, query: string) => {
  await world.once("twelve agents", async () => {
    for (let index = 0; index < 12; index++) await newAgent(world, { name: `${newName()}-${index}` });
  });
  return answers(await world.call("GET", `/v1/agents?${query}`), 200);
};

const listParameters: readonly Statement[] = [
  statement("list.limit-integer", "limit (List Agents): integer", async (world) => {
    equal((await listOf(world, "limit=3")).data.length, 3, "items");
    for (const limit of ["1.5", "ten", "0"]) {
      refuses(await world.call("GET", `/v1/agents?limit=${limit}`), 400, "invalid_request", `limit=${limit}`);
    }
  }),
  statement("list.limit-default", "limit (List Agents): default 10", async (world) => {
    const { data, pagination } = await listOf(world, "");
    equal([data.length, pagination.limit], [10, 10], "items and limit");
  }),
  statement("list.limit-maximum", "limit (List Agents): maximum 100", async (world) => {
    equal((await listOf(world, "limit=100")).pagination.limit, 100, "limit");
    refuses(await world.call("GET", "/v1/agents?limit=101"), 400, "invalid_request", "limit=101");
  }),
  statement("list.offset", "offset (List Agents): integer, pagination offset", async (world) => {
    const whole = (await listOf(world, "limit=5&sort=name")).data;
    const rest = (await listOf(world, "limit=3&offset=2&sort=name")).data;
    equal(rest, whole.slice(2), "items from the offset on");
    refuses(await world.call("GET", "/v1/agents?offset=x"), 400, "invalid_request", "offset=x");
  }),
  statement("list.sort-ascending", "sort: without the prefix the order is ascending", async (world) => {
    const names = (await listOf(world, "limit=100&sort=name")).data.map(({ name }: { name: string }) => name);
    equal(names, [...names].sort(), "names");
  }),
  statement("list.sort-descending", "sort: prefixed with - for descending order", async (world) => {
    const names = (await listOf(world, "limit=100&sort=-name")).data.map(({ name }: { name: string }) => name);
    equal(names, [...names].sort().reverse(), "names");
  }),
  statement("list.sort-created-at", "sort: example field created_at", async (world) => {
    const times = async (sort: string) =>
      (await listOf(world, `limit=100&sort=${sort}`)).data.map((item: { created_at: string }) => item.created_at);
    const ascending = await times("created_at");
    equal(ascending, [...ascending].sort(), "times");
    equal(await times("-created_at"), [...ascending].reverse(), "times, descending");
  }),
];

export const parameterValues: readonly Statement[] = [...logParameters, ...metricParameters, ...listParameters];
