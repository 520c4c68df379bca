import { answers, equal, hasExactly, holds, integer, isA, refuses, single, text, utcTime } from "../expectations.ts";
import { decided, type Section, type Statement, statement } from "../statement.ts";
import { agent, newAgent, newName, newRun } from "../world.ts";
import { answerOf, everyOperation, specifiedOperations } from "./operations.ts";
import { parameterValues } from "./parameter-values.ts";

const pathWith = (path: string, agentId: string): string =>
  path.replace("{agent_id}", agentId).replaceAll(/\{\w+\}/g, "none");

/** The expected answer of each operation of the table, besides having succeeded with the given body and parameters. */
const outcomes: Readonly<Record<number, (answer: Awaited<ReturnType<typeof answerOf>>) => void>> = {
  1: (answer) => equal(single(answer, 200).response, "hello", "response"),
  2: (answer) => answers(answer, 200),
  3: (answer) => single(answer, 200),
  4: (answer) => equal(single(answer, 200).temperature, 0.2, "temperature"),
  5: (answer) => single(answer, 200),
  6: (answer) => equal(single(answer, 201).version, "after", "version"),
  7: (answer) => equal(answers(answer, 200).data.length, 2, "deployments"),
  8: (answer) => equal(single(answer, 201).version, "before", "version"),
  9: (answer) => equal(answers(answer, 200).data, [], "log entries of another day"),
  10: (answer) => equal(single(answer, 200).values.length, 24, "values of a day"),
  11: (answer) => equal(answers(answer, 200).data, [], "memories"),
  12: (answer) => single(answer, 200),
  13: (answer) => equal(single(answer, 201).events, ["agent.completed", "agent.failed"], "events"),
  14: (answer) => answers(answer, 200),
  15: (answer) => single(answer, 200),
  16: (answer) => equal(single(answer, 201).permissions, ["read", "write"], "permissions"),
  17: (answer) => answers(answer, 200),
  18: (answer) => single(answer, 200),
};

const rows: readonly Statement[] = specifiedOperations.map(({ number, name, method, path }) =>
  statement(`endpoint.${number}`, `${number}: ${name} is ${method} ${path}`, async (world) => {
    outcomes[number]?.(await answerOf(world, number));
  }),
);

const envelopes: readonly Statement[] = [
  statement("endpoints.key", "All endpoints need the header Authorization: Bearer <API_KEY>", async (world) => {
    const { id } = await agent(world);
    for (const { name, method, path } of specifiedOperations) {
      const body = method === "POST" || method === "PATCH" ? { body: {} } : {};
      const answer = await world.call(method, pathWith(path, id), { key: null, ...body });
      refuses(answer, 401, "unauthorized", name);
    }
  }),
  statement("envelope.single", "Single-object responses: {success: true, data: <object>}", async (world) => {
    for (const number of [1, 3, 4, 6, 10, 13, 16]) {
      const answer = await answerOf(world, number);
      single(answer, answer.status, `operation ${number}`);
    }
  }),
  statement("envelope.action", "action responses: {success: true, data: <object>}", async (world) => {
    for (const number of [5, 8, 12, 15, 18]) {
      const answer = await answerOf(world, number);
      single(answer, answer.status, `operation ${number}`);
    }
  }),
  statement("envelope.list", "List responses: {data: [<item>...], pagination: <pagination object>}", async (world) => {
    for (const { operation, answer } of await everyOperation(world)) {
      if (!operation.isList) continue;
      equal(Object.keys(answer.body).sort(), ["data", "pagination"], `${operation.name}: fields`);
      holds(Array.isArray(answer.body.data), `${operation.name}: data is no array`);
      for (const field of ["limit", "offset", "total"]) isA(answer.body.pagination[field], integer, field);
    }
  }),
];

const bodies: readonly Statement[] = [
  statement("invoke.idempotency-key", "Invoke Agent: optional header Idempotency-Key", async (world) => {
    const { path } = await agent(world);
    const headers = { "idempotency-key": newName() };
    const invoke = () => world.call("POST", `${path}/invoke`, { body: { message: "once" }, headers });
    const [first, second] = [single(await invoke(), 200), single(await invoke(), 200)];
    equal(second, first, "the answer to the retry");
    const { requestId } = await newRun(world);
    holds(requestId !== first.request_id, "without the header, each request is a run of its own");
  }),
  statement("invoke.response", "Invoke Agent: response, request_id, tokens_used, duration_ms", async (world) => {
    const fields = { response: text, request_id: text, tokens_used: integer, duration_ms: integer };
    hasExactly(single(await answerOf(world, 1), 200), fields, "data");
    // A slow run is waited for, because the request does not ask for a 202.
    const script = JSON.stringify({ steps: [{ reply: "late", delay_ms: 1500 }] });
    const { answer } = await newRun(world, await newAgent(world, { model: "perch/script", instructions: script }));
    hasExactly(single(answer, 200), fields, "data");
  }),
  statement("list-agents.response", "List Agents: list of agent summaries + pagination", async (world) => {
    const { data, pagination } = answers(await answerOf(world, 2), 200);
    for (const item of data) hasExactly(item, { id: text, name: text, status: text, created_at: utcTime }, "a summary");
    equal(Object.keys(pagination).sort(), ["has_more", "limit", "offset", "total"], "fields of pagination");
  }),
  statement("get-agent.response", "Get Agent: data = agent", async (world) => {
    const data = single(await answerOf(world, 3), 200);
    for (const field of ["id", "name", "status", "model"]) isA(data[field], text, field);
    for (const field of ["created_at", "updated_at"]) isA(data[field], utcTime, field);
  }),
  decided(
    "get-logs.response",
    "Get Logs: list of log entries",
    { differs: "The pagination object also has total_relation and next_cursor.", decision: 54 },
    async (world) => {
      const { path } = await agent(world);
      await newRun(world);
      const { data, pagination } = answers(await world.call("GET", `${path}/logs`), 200);
      holds(data.length > 0, "no entries");
      const fields = ["has_more", "limit", "next_cursor", "offset", "total", "total_relation"];
      equal(Object.keys(pagination).sort(), fields, "fields of pagination");
    },
  ),
  decided(
    "get-metrics.response",
    "Get Metrics: data = metric series",
    { differs: "The series also says its granularity and its statistic.", decision: 54 },
    async (world) => {
      const data = single(await answerOf(world, 10), 200);
      equal(Object.keys(data).sort(), ["granularity", "metric", "statistic", "values"], "fields of the series");
      equal([data.granularity, data.statistic], ["1h", null], "granularity and statistic");
    },
  ),
  statement("endpoints.no-body", "12 operations have no request body", async (world) => {
    for (const number of [2, 3, 5, 7, 8, 9, 10, 12, 14, 15, 17, 18]) {
      const { status } = await answerOf(world, number);
      holds(status < 300, `operation ${number} answered ${status} without a body`);
    }
  }),
  decided(
    "endpoints.no-query",
    "12 operations have no query parameters",
    {
      differs: "Update Agent takes force, and Clear Memory takes user_id, session_id and before. Each is optional.",
      decision: 54,
    },
    async (world) => {
      const made = await newAgent(world);
      for (const { name, method, path, takesQuery } of specifiedOperations) {
        if (takesQuery) continue;
        const body = method === "POST" || method === "PATCH" ? { body: {} } : {};
        const answer = await world.call(method, `${pathWith(path, made.id)}?colour=red`, body);
        const { details } = refuses(answer, 400, "invalid_request", name);
        holds(
          details.some(({ field }: { field: string }) => field === "colour"),
          `${name} took the parameter`,
        );
      }
      single(await world.call("PATCH", `${made.path}?force=true`, { body: { temperature: 1 } }), 200);
      single(await world.call("DELETE", `${made.path}/memory?user_id=a&session_id=b&before=2026-01-01T00:00:00Z`), 200);
    },
  ),
];

/** The column of request bodies: each field is taken, and one of another type is refused by name. */
const bodyColumn: Readonly<Record<number, readonly string[]>> = {
  1: ["message", "context"],
  4: ["model", "temperature"],
  6: ["environment", "version"],
  11: ["query", "limit"],
  13: ["agent_id", "url", "events"],
  16: ["agent_id", "name", "permissions"],
};

const requestBodies: readonly Statement[] = specifiedOperations.flatMap(({ number, name, method, path }) => {
  const fields = bodyColumn[number];
  if (!fields) return [];
  return statement(`endpoint.${number}-body`, `${name}: request body ${fields.join(", ")}`, async (world) => {
    holds((await answerOf(world, number)).status < 300, "the body of the table is refused");
    const { id } = await agent(world);
    const body = Object.fromEntries(fields.map((field) => [field, false]));
    const { details } = refuses(await world.call(method, pathWith(path, id), { body }), 400, "invalid_request");
    const named = new Set(details.map(({ field }: { field: string }) => field));
    equal(
      fields.filter((field) => !named.has(field)),
      [],
      "fields of another type that were not refused",
    );
  });
});

export const endpoints: Section = {
  title: "Endpoints",
  statements: [...envelopes, ...rows, ...bodies, ...requestBodies, ...parameterValues],
};
