import { deepStrictEqual, ok } from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import * as perch from "./perch.ts";

/**
 * Runs the 18 operations of the specification with the generated client, and prints one line for each.
 * `generated-client.test.ts` puts the client beside a copy of this file, checks the types of both and runs it.
 */
const url = process.env.PERCH_URL ?? "";
const options = { headers: { authorization: `Bearer ${process.env.PERCH_API_KEY}` } };
const plainFetch = globalThis.fetch;
// The client is generated without an address.
globalThis.fetch = (path, init) => plainFetch(url + String(path), init);

const done = (operation: string, about: string): void => console.log(`${operation}: ${about}`);

interface Reply {
  readonly status: number;
  readonly data: unknown;
}

/** The answer with this status: the client has a type for each. */
function expectStatus<R extends Reply, S extends R["status"]>(reply: R, status: S): Extract<R, { status: S }> {
  ok(reply.status === status, `expected ${status}, got ${reply.status} ${JSON.stringify(reply.data)}`);
  return reply as Extract<R, { status: S }>;
}

async function runAgents(agentId: string): Promise<void> {
  const updated = expectStatus(await perch.updateAgent(agentId, { temperature: 0.5 }, undefined, options), 200);
  deepStrictEqual(updated.data.data.temperature, 0.5);
  done("updateAgent", "temperature 0.5");

  const { data: agent } = expectStatus(await perch.getAgent(agentId, options), 200).data;
  deepStrictEqual([agent.name, agent.status, agent.model], ["generated", "running", "perch/echo"]);
  done("getAgent", agent.model);

  const agents = expectStatus(await perch.listAgents({ limit: 10, offset: 0, sort: "-created_at" }, options), 200).data;
  deepStrictEqual([agents.data[0]?.id, agents.pagination.total, agents.pagination.has_more], [agentId, 1, false]);
  done("listAgents", `${agents.pagination.total} in all`);

  const context = { user_id: "ada", session_id: "first" };
  const invoked = expectStatus(await perch.invokeAgent(agentId, { message: "hello", context }, options), 200);
  ok("success" in invoked.data, "the answer is no JSON");
  deepStrictEqual(invoked.data.data.response, "hello");
  done("invokeAgent", invoked.data.data.response);
}

async function untilActive(agentId: string, version: string): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt++) {
    const listed = expectStatus(await perch.listDeployments(agentId, { status: "active" }, options), 200).data;
    if (listed.data.some((deployment) => deployment.version === version)) return;
    await sleep(50);
  }
  throw new Error(`${version} is not active`);
}

async function runDeployments(agentId: string): Promise<void> {
  const production = { environment: "production" };
  const first = expectStatus(await perch.createDeployment(agentId, { ...production, version: "v1" }, options), 201);
  await untilActive(agentId, "v1");
  await perch.updateAgent(agentId, { temperature: 0.7 }, undefined, options);
  expectStatus(await perch.createDeployment(agentId, { ...production, version: "v2" }, options), 201);
  await untilActive(agentId, "v2");
  done("createDeployment", first.data.data.version);

  const listed = expectStatus(await perch.listDeployments(agentId, { environment: "production" }, options), 200).data;
  deepStrictEqual(listed.data.map(({ version }) => version).sort(), ["v1", "v2"]);
  done("listDeployments", `${listed.pagination.total} in all`);

  const back = expectStatus(await perch.rollbackDeployment(agentId, first.data.data.id, options), 201);
  deepStrictEqual(back.data.data.version, "v1");
  done("rollbackDeployment", back.data.data.version);
}

async function runLogsAndMemory(agentId: string): Promise<void> {
  const logs = expectStatus(await perch.getLogs(agentId, { level: "info", limit: 5 }, options), 200);
  ok("data" in logs.data, "the answer is no JSON");
  ok(logs.data.data.every(({ level }) => level === "info"));
  done("getLogs", `${logs.data.pagination.total} in all`);

  const query = { metric: "throughput", granularity: "1h" } as const;
  const series = expectStatus(await perch.getMetrics(agentId, query, options), 200).data.data;
  deepStrictEqual([series.metric, typeof series.values[0]?.value], ["throughput", "number"]);
  done("getMetrics", series.metric);

  expectStatus(await perch.addMemory(agentId, { content: "Ada likes tea" }, options), 201);
  const found = expectStatus(await perch.searchMemory(agentId, { query: "tea", limit: 3 }, options), 200).data;
  deepStrictEqual(found.data[0]?.content, "Ada likes tea");
  done("searchMemory", "Ada likes tea");

  const cleared = expectStatus(await perch.clearMemory(agentId, undefined, options), 200).data.data;
  ok(cleared.memories_deleted >= 1);
  done("clearMemory", cleared.status);
}

async function runWebhooksAndKeys(agentId: string): Promise<void> {
  const subscription = { agent_id: agentId, url: "https://hooks.example.com/perch" };
  const made = expectStatus(await perch.createWebhook({ ...subscription, events: ["agent.failed"] }, options), 201);
  ok(made.data.data.secret.startsWith("whsec_"));
  done("createWebhook", made.data.data.url);
  const webhooks = expectStatus(await perch.listWebhooks({ agent_id: agentId }, options), 200).data;
  deepStrictEqual(
    webhooks.data.map(({ id }) => id),
    [made.data.data.id],
  );
  done("listWebhooks", `${webhooks.pagination.total} in all`);
  deepStrictEqual(expectStatus(await perch.deleteWebhook(made.data.data.id, options), 200).data.data.deleted, true);
  done("deleteWebhook", "deleted");

  const wanted = { agent_id: agentId, name: "generated", permissions: ["read" as const] };
  const key = expectStatus(await perch.createKey(wanted, options), 201).data.data;
  const as = { headers: { authorization: `Bearer ${key.key}` } };
  expectStatus(await perch.getAgent(agentId, as), 200);
  done("createKey", key.permissions.join());
  const keys = expectStatus(await perch.listKeys({ agent_id: agentId }, options), 200).data;
  deepStrictEqual(
    keys.data.map(({ id }) => id),
    [key.id],
  );
  done("listKeys", `${keys.pagination.total} in all`);
  expectStatus(await perch.revokeKey(key.id, options), 200);
  deepStrictEqual(expectStatus(await perch.getAgent(agentId, as), 401).data.error.code, "unauthorized");
  done("revokeKey", "revoked");
}

const created = expectStatus(
  await perch.createAgent({ name: "generated", model: "perch/echo" }, undefined, options),
  201,
);
const { id } = created.data.data;
await runAgents(id);
await runDeployments(id);
await runLogsAndMemory(id);
await runWebhooksAndKeys(id);
deepStrictEqual(expectStatus(await perch.deleteAgent(id, options), 200).data.data, { id, deleted: true });
done("deleteAgent", "deleted");
