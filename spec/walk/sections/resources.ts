import {
  answers,
  array,
  arrayOf,
  equal,
  eventually,
  flag,
  hasExactly,
  holds,
  integer,
  isA,
  number,
  object,
  refuses,
  single,
  text,
  utcTime,
} from "../expectations.ts";
import { decided, type Section, type Statement, statement } from "../statement.ts";
import { agent, deploy, logEntries, newAgent, newKey, newName, newRun, run, type World } from "../world.ts";

const getAgent = async (world: World) => single(await world.call("GET", (await agent(world)).path), 200);
const invoke = async (world: World, body: object) =>
  world.call("POST", `${(await agent(world)).path}/invoke`, { body });
const refusesField = async (world: World, method: string, path: string, body: object, field: string) => {
  const error = refuses(await world.call(method, path, { body }), 400, "invalid_request", `${field} of a wrong type`);
  holds(error.details?.[0]?.field?.startsWith(field), `details do not name ${field}: ${JSON.stringify(error)}`);
};

const agentFields: readonly Statement[] = [
  statement("agent.id", "Agent id: string", async (world) => isA((await getAgent(world)).id, text, "id")),
  statement("agent.name", "Agent name: string", async (world) => {
    equal((await getAgent(world)).name, (await agent(world)).name, "name");
  }),
  statement("agent.status", "Agent status: string", async (world) =>
    isA((await getAgent(world)).status, text, "status"),
  ),
  statement("agent.model", "Agent model: string, returned by Get Agent", async (world) => {
    equal((await getAgent(world)).model, "perch/echo", "model");
  }),
  statement("agent.model-settable", "Agent model: settable by Update Agent", async (world) => {
    const { path } = await newAgent(world);
    single(await world.call("PATCH", path, { body: { model: "perch/script" } }), 200);
    equal(single(await world.call("GET", path), 200).model, "perch/script", "model");
    await refusesField(world, "PATCH", path, { model: 1 }, "model");
  }),
  statement("agent.temperature", "Agent temperature: number, settable by Update Agent", async (world) => {
    const { path } = await newAgent(world);
    single(await world.call("PATCH", path, { body: { temperature: 0.7 } }), 200);
    equal(single(await world.call("GET", path), 200).temperature, 0.7, "temperature");
    await refusesField(world, "PATCH", path, { temperature: "warm" }, "temperature");
  }),
  statement("agent.created-at", "Agent created_at: ISO 8601 UTC timestamp", async (world) => {
    isA((await getAgent(world)).created_at, utcTime, "created_at");
  }),
  statement("agent.updated-at", "Agent updated_at: ISO 8601 UTC timestamp; returned by Get Agent", async (world) => {
    const { path } = await newAgent(world);
    const before = single(await world.call("GET", path), 200);
    isA(before.updated_at, utcTime, "updated_at");
    single(await world.call("PATCH", path, { body: { temperature: 1 } }), 200);
    const after = single(await world.call("GET", path), 200);
    holds(after.updated_at > before.updated_at && after.created_at === before.created_at, "updated_at did not move");
  }),
  statement("agent.list-item", "A list item carries id, name, status, created_at", async (world) => {
    const { id } = await agent(world);
    const { data } = answers(await world.call("GET", "/v1/agents?limit=100"), 200);
    const item = data.find((one: { id: string }) => one.id === id);
    hasExactly(item, { id: text, name: text, status: text, created_at: utcTime }, "the list item");
  }),
  decided(
    "agent.get",
    "Get Agent returns id, name, status, model, created_at, updated_at",
    { differs: "It also returns the other fields of the agent's definition, and auth.", decision: 54 },
    async (world) => {
      const given = { id: text, name: text, status: text, model: text, created_at: utcTime, updated_at: utcTime };
      const definition = ["temperature", "instructions", "tools", "memory", "limits", "logs", "fallback_models"];
      const found = await getAgent(world);
      for (const name of [...definition, "runtime", "security", "auth"]) {
        holds(name in found, `${name} is missing`);
        delete found[name];
      }
      hasExactly(found, given, "Get Agent");
    },
  ),
];

const invocationFields: readonly Statement[] = [
  statement("invocation.message", "Invocation message: string", async (world) => {
    equal((await run(world)).answer.body.data.response, "hello", "the echo");
    await refusesField(world, "POST", `${(await agent(world)).path}/invoke`, { message: 5 }, "message");
  }),
  statement("invocation.message-required", "omitting message yields invalid_request naming it", async (world) => {
    const error = refuses(await invoke(world, {}), 400, "invalid_request");
    equal(error.message, "Missing required parameter: message", "message");
  }),
  statement("invocation.context", "Invocation context: object", async (world) => {
    single(await invoke(world, { message: "hello", context: {} }), 200);
    await refusesField(world, "POST", `${(await agent(world)).path}/invoke`, { message: "x", context: "y" }, "context");
  }),
  ...["user_id", "session_id"].map((key) =>
    statement(`invocation.context-${key.replace("_", "-")}`, `context: key ${key} (string)`, async (world) => {
      const { path } = await agent(world);
      const value = newName();
      const { request_id: id } = single(await invoke(world, { message: "hello", context: { [key]: value } }), 200);
      equal(single(await world.call("GET", `${path}/invocations/${id}`), 200)[key], value, key);
      await refusesField(world, "POST", `${path}/invoke`, { message: "x", context: { [key]: 5 } }, `context.${key}`);
    }),
  ),
  statement("invocation.response", "Result response: string, the agent's reply", async (world) => {
    const { answer } = await newRun(world, undefined, "what is said");
    equal(answer.body.data.response, "what is said", "response");
  }),
  statement("invocation.request-id", "Result request_id: string", async (world) => {
    const { agent: of, requestId } = await run(world);
    isA(requestId, text, "request_id");
    equal(single(await world.call("GET", `${of.path}/invocations/${requestId}`), 200).request_id, requestId, "the run");
  }),
  statement("invocation.tokens-used", "Result tokens_used: integer", async (world) => {
    isA((await run(world)).answer.body.data.tokens_used, integer, "tokens_used");
  }),
  statement("invocation.duration", "Result duration_ms: integer, milliseconds", async (world) => {
    const script = JSON.stringify({ steps: [{ reply: "late", delay_ms: 300 }] });
    const slow = await newAgent(world, { model: "perch/script", instructions: script });
    const { answer, tookMs } = await newRun(world, slow);
    const { duration_ms: duration } = answer.body.data;
    isA(duration, integer, "duration_ms");
    holds(duration >= 300 && duration <= tookMs + 1, `${duration} ms of ${tookMs} ms that the request took`);
  }),
];

const deploymentFields: readonly Statement[] = ["environment", "version"].map((field) =>
  statement(`deployment.${field}`, `Deployment ${field}: string, request field of Create Deployment`, async (world) => {
    const made = await newAgent(world);
    const deployment = await deploy(world, made, "v1", "staging");
    equal(deployment[field as "version"], field === "version" ? "v1" : "staging", field);
    const body = { environment: "staging", version: "v1", [field]: 5 };
    await refusesField(world, "POST", `${made.path}/deployments`, body, field);
  }),
);

const series = async (world: World, metric = "response_time") => {
  const { path } = await agent(world);
  await run(world);
  return single(await world.call("GET", `${path}/metrics?metric=${metric}&granularity=1h`), 200);
};

const logAndMetricFields: readonly Statement[] = [
  ...Object.entries({ timestamp: utcTime, level: text, message: text, metadata: object }).map(([field, kind]) =>
    statement(`log.${field}`, `Log entry ${field}: ${kind[0]}`, async (world) => {
      for (const entry of await logEntries(world)) {
        isA(entry[field], kind, field);
        // `id` is beyond the specification: it distinguishes entries with the same text (decision 24).
        const fields = ["id", "level", "message", "metadata", "timestamp"];
        equal(Object.keys(entry).sort(), fields, "fields of a log entry");
        if (field === "level") holds(["debug", "info", "warn", "error"].includes(String(entry.level)), "level");
      }
    }),
  ),
  statement("log.request-id", "Log entry metadata contains request_id (string)", async (world) => {
    const { agent: of, requestId } = await run(world);
    const { data } = answers(await world.call("GET", `${of.path}/logs?request_id=${requestId}`), 200);
    holds(data.length > 0, "no entry of the run");
    for (const { metadata } of data) equal(metadata.request_id, requestId, "metadata.request_id");
  }),
  decided(
    "metric.metric",
    "Metric series metric: string, one of response_time, throughput, error_rate",
    { differs: "There are two more: tokens and cost.", decision: 54 },
    async (world) => {
      for (const metric of ["response_time", "throughput", "error_rate", "tokens", "cost"]) {
        equal((await series(world, metric)).metric, metric, "metric");
      }
      const { path } = await agent(world);
      refuses(await world.call("GET", `${path}/metrics?metric=happiness`), 400, "invalid_request");
    },
  ),
  statement("metric.values", "Metric series values: array", async (world) => {
    const { values } = await series(world);
    isA(values, array, "values");
    holds(values.length > 0, "no values");
  }),
  ...Object.entries({ timestamp: utcTime, value: number, unit: text }).map(([field, kind]) =>
    statement(`metric.${field}`, `items of values: ${field} (${kind[0]})`, async (world) => {
      for (const item of (await series(world)).values) {
        isA(item[field], kind, field);
        equal(Object.keys(item).sort(), ["timestamp", "unit", "value"], "fields of an item");
      }
    }),
  ),
];

const createWebhook = (world: World, body: object) =>
  world.call("POST", "/v1/webhooks", {
    body: { url: "https://hooks.example.com/walk", events: ["agent.failed"], ...body },
  });
const removeWebhook = (world: World, { id }: { id: string }) => world.call("DELETE", `/v1/webhooks/${id}`);

const requestFields: readonly Statement[] = [
  statement("memory.query", "Memory search query: string, request field", async (world) => {
    const { path } = await agent(world);
    answers(await world.call("POST", `${path}/memory/search`, { body: { query: "tea" } }), 200);
    await refusesField(world, "POST", `${path}/memory/search`, { query: 5 }, "query");
  }),
  statement("memory.limit", "Memory search limit: integer, request field", async (world) => {
    const { path } = await newAgent(world);
    for (const content of ["tea one", "tea two", "tea three"]) {
      single(await world.call("POST", `${path}/memory`, { body: { content } }), 201);
    }
    const search = (limit: unknown) => world.call("POST", `${path}/memory/search`, { body: { query: "tea", limit } });
    equal(answers(await search(2), 200).data.length, 2, "results");
    refuses(await search(1.5), 400, "invalid_request", "a limit of 1.5");
  }),
  statement("webhook.agent-id", "Webhook agent_id: string, request field of Create Webhook", async (world) => {
    const { id } = await agent(world);
    const made = single(await createWebhook(world, { agent_id: id }), 201);
    equal(made.agent_id, id, "agent_id");
    await removeWebhook(world, made);
  }),
  statement("webhook.url", "Webhook url: string, HTTPS address that receives events", async (world) => {
    const made = single(await createWebhook(world, {}), 201);
    equal(made.url, "https://hooks.example.com/walk", "url");
    await removeWebhook(world, made);
    refuses(await createWebhook(world, { url: "http://hooks.example.com/walk" }), 400, "invalid_request", "plain http");
  }),
  statement("webhook.events", "Webhook events: array of string, event names", async (world) => {
    const events = ["agent.completed", "agent.failed"];
    const made = single(await createWebhook(world, { events }), 201);
    isA(made.events, arrayOf(text), "events");
    equal(made.events, events, "events");
    await removeWebhook(world, made);
    refuses(await createWebhook(world, { events: ["agent.danced"] }), 400, "invalid_request", "another event name");
    refuses(await createWebhook(world, { events: "agent.failed" }), 400, "invalid_request", "events as a string");
  }),
  statement("key.agent-id", "API key agent_id: string, request field of Create API Key", async (world) => {
    const [own, other] = [await agent(world), await newAgent(world)];
    const { key } = await newKey(world, { agent_id: own.id, permissions: ["read"] });
    answers(await world.call("GET", own.path, { key }), 200);
    refuses(await world.call("GET", other.path, { key }), 404, "not_found", "another agent");
  }),
  statement("key.name", "API key name: string, request field", async (world) => {
    const name = newName();
    const { id } = await newKey(world, { name, permissions: ["read"] });
    const found = await eventually(async () => {
      const { data } = answers(await world.call("GET", "/v1/keys?limit=100"), 200);
      return data.find((one: { id: string }) => one.id === id) as { name: string } | undefined;
    }, "the key in the list");
    equal(found.name, name, "name");
    await refusesField(world, "POST", "/v1/keys", { name: 5, permissions: ["read"] }, "name");
  }),
  statement("key.permissions", "API key permissions: array of string; values seen: read, write", async (world) => {
    equal((await newKey(world, { permissions: ["read", "write"] })).permissions, ["read", "write"], "permissions");
    await refusesField(world, "POST", "/v1/keys", { name: "x", permissions: "read" }, "permissions");
  }),
];

const paginationFields: readonly Statement[] = Object.entries({
  limit: integer,
  offset: integer,
  total: integer,
  has_more: flag,
}).map(([field, kind]) =>
  statement(`pagination.${field.replace("_", "-")}`, `Pagination object ${field}: ${kind[0]}`, async (world) => {
    const { pagination } = answers(await world.call("GET", "/v1/agents?limit=1"), 200);
    isA(pagination[field], kind, field);
    equal(Object.keys(pagination).sort(), ["has_more", "limit", "offset", "total"], "fields of pagination");
  }),
);

export const resources: Section = {
  title: "Resources and their fields",
  statements: [
    ...agentFields,
    ...invocationFields,
    ...deploymentFields,
    ...logAndMetricFields,
    ...requestFields,
    ...paginationFields,
  ],
};
