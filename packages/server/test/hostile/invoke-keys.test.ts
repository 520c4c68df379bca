import { type Operation, operationKeys, operations } from "@perch/contract";
import { lastUserMessage, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signIn } from "../support/browser.ts";
import { buildRequest, expectError, ok } from "../support/contract-client.ts";
import { followRunStream } from "../support/event-stream-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { createScriptedAgent, invokeAgent, invokeInBackground, waitForRunRecord } from "../support/invoke-calls.ts";

const answer = "an answer";
const script = await startScriptServer((call) => ({
  reply: answer,
  delay_ms: lastUserMessage(call) === "slow" ? 8000 : 0,
}));
const perch = usePerch({ scriptModelUrl: script.url }, { withWorker: true, heartbeatMs: 500 });
afterAll(() => script.close());

const getRun = "GET /v1/agents/{agent_id}/invocations/{request_id}";
const cancelRun = "POST /v1/agents/{agent_id}/invocations/{request_id}/cancel";

let organisation: Organisation;
let key: string;
let otherKey: string;
/** Runs of `key`, of another key with `invoke`, and of the admin. */
let own: string;
let others: string[];

const invoke = async (apiKey: string): Promise<string> => {
  const { data, text } = await invokeAgent(perch(), apiKey, { message: "hello" });
  if (!data) throw new Error(text);
  return data.request_id;
};

beforeAll(async () => {
  organisation = await perch().createOrganisation();
  await createScriptedAgent(organisation);
  [key, otherKey] = await Promise.all([
    organisation.createKey({ permissions: ["invoke"] }),
    organisation.createKey({ permissions: ["invoke"] }),
  ]);
  own = await invoke(key);
  others = [await invoke(otherKey), await invoke(organisation.adminKey)];
});

const paramsOf = (request_id: string) => ({ params: { agent_id: "bot", request_id } });
const idOf = async (apiKey: string) => ok(await organisation.call("GET /v1/me", {}, apiKey)).data.key.id;

describe("a key with `invoke` alone", () => {
  test("runs agents, and reads, follows and cancels the runs that it started, without their log", async () => {
    verifies("permissions.invoke");
    const run = ok(await organisation.call(getRun, paramsOf(own), key)).data;
    expect(run).toMatchObject({ status: "completed", response: answer, timeline: [] });
    const events = await (await followRunStream(perch(), key, `/v1/agents/bot/invocations/${own}`)).readAll();
    expect(events.at(-1)).toMatchObject({ event: "done" });
    expect(ok(await organisation.call(cancelRun, paramsOf(own), key)).data).toMatchObject({ timeline: [] });
    expect(ok(await organisation.call(getRun, paramsOf(own))).data.timeline).not.toEqual([]);
  });

  test("sees a run of its own also while it is under way", async () => {
    const run = await invokeInBackground(perch(), key, { message: "hello" });
    ok(await organisation.call(getRun, paramsOf(run), key));
    await waitForRunRecord(organisation, run);
    ok(await organisation.call(getRun, paramsOf(run), key));
  });

  test("sees no run that another key started", async () => {
    for (const run of others) {
      expectError(await organisation.call(getRun, paramsOf(run), key), "not_found");
      expectError(await organisation.call(cancelRun, paramsOf(run), key), "not_found");
      const stream = await followRunStream(perch(), key, `/v1/agents/bot/invocations/${run}`);
      expect(stream.status).toBe(404);
      stream.abort();
    }
  });

  test("may do nothing else", async () => {
    const allowed = Object.entries(operations)
      .filter(([, { permission, ownRuns }]: [string, Operation]) => permission === "invoke" || ownRuns)
      .map(([operation]) => operation);
    expect(allowed).toHaveLength(3);
    const wrong: string[] = [];
    for (const operation of operationKeys) {
      const { permission }: Operation = operations[operation];
      if (permission === null || permission === "public") continue;
      const { path, init } = buildRequest(operation, { params: { agent_id: "bot", request_id: own } });
      const { status } = await fetch(perch().url + path, { ...init, headers: { authorization: `Bearer ${key}` } });
      if ((status === 403) === allowed.includes(operation)) wrong.push(`${operation}: ${status}`);
    }
    expect(wrong).toEqual([]);
  });

  test("gets no other version, which needs `read`, and no other agent than its own", async () => {
    const version = await invokeAgent(perch(), key, { message: "hello", context: { version: "draft" } });
    expect(version.status).toBe(403);
    await createScriptedAgent(organisation, [], {}, "other");
    const bound = await organisation.createKey({ permissions: ["invoke"], agent_id: "other" });
    expect((await invokeAgent(perch(), bound, { message: "hello" })).status).toBe(404);
    expect((await invokeAgent(perch(), bound, { message: "hello" }, { agent: "other" })).status).toBe(200);
  });

  test("does not get the run of another key with that key's Idempotency-Key", async () => {
    const retry = { headers: { "idempotency-key": "shared" } };
    const body = { message: "hello" };
    const first = await invokeAgent(perch(), otherKey, body, retry);
    expect(first.status).toBe(200);
    const replayed = await invokeAgent(perch(), key, body, retry);
    expect(replayed.status).toBe(409);
    expect(replayed.text).not.toContain(first.data.request_id);
    expect((await invokeAgent(perch(), otherKey, body, retry)).data.request_id).toBe(first.data.request_id);
  });

  test("keeps its runs when it is rotated, and the keys before and after it see the same", async () => {
    const rotating = await organisation.createKey({ permissions: ["invoke"] });
    const before = await invoke(rotating);
    const params = { key_id: await idOf(rotating) };
    const next = ok(await organisation.call("POST /v1/keys/{key_id}/rotate", { params, body: {} })).data.key;
    ok(await organisation.call(getRun, paramsOf(before), next));
    const after = await invoke(next);
    ok(await organisation.call(getRun, paramsOf(after), rotating));
    expectError(await organisation.call(getRun, paramsOf(before), key), "not_found");
  });

  test("gives nothing on, and only who may run agents gives it", async () => {
    expectError(
      await organisation.call("POST /v1/keys", { body: { name: "k", permissions: ["invoke"] } }, key),
      "forbidden",
    );
    const manager = await organisation.createKey({ permissions: ["manage"] });
    const body = { name: "k", permissions: ["invoke" as const] };
    expectError(await organisation.call("POST /v1/keys", { body }, manager), "forbidden");
    ok(await organisation.call("POST /v1/keys", { body }));
  });

  test("has a session in the console that may do no more", async () => {
    const session = await signIn(perch().url, { api_key: key });
    const statusOf = async (path: string) => (await session.send(path)).status;
    expect(await statusOf("/v1/me")).toBe(200);
    expect(await statusOf(`/v1/agents/bot/invocations/${own}`)).toBe(200);
    expect(await statusOf(`/v1/agents/bot/invocations/${others[0]}`)).toBe(404);
    for (const path of ["/v1/agents", "/v1/invocations", "/v1/agents/bot/invocations", "/v1/agents/bot/logs"])
      expect(await statusOf(path), path).toBe(403);
  });
});

test("`write` includes `invoke`, for runs that the key started itself", async () => {
  const writer = await organisation.createKey({ permissions: ["write"] });
  const run = await invoke(writer);
  expect(ok(await organisation.call(getRun, paramsOf(run), writer)).data.timeline).toEqual([]);
  expectError(await organisation.call(getRun, paramsOf(own), writer), "not_found");
  ok(await organisation.call(cancelRun, paramsOf(own), writer));
});

test("a stream ends when its key keeps `invoke` alone and another key started the run", async () => {
  const reader = await organisation.createKey({ permissions: ["read"] });
  const run = await invokeInBackground(perch(), organisation.adminKey, { message: "slow" });
  const stream = await followRunStream(perch(), reader, `/v1/agents/bot/invocations/${run}`);
  const params = { key_id: await idOf(reader) };
  ok(await organisation.call("PATCH /v1/keys/{key_id}", { params, body: { permissions: ["invoke"] } }));
  const last = (await stream.readAll()).at(-1);
  expect(last).toMatchObject({ event: "error", data: { code: "forbidden" } });
}, 20_000);
