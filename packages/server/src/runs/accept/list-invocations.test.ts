import { setTimeout as sleep } from "node:timers/promises";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { createScriptedAgent, invokeAgent, invokeInBackground } from "../../../test/support/invoke-calls.ts";
import { parsePublicId } from "../../platform/ids.ts";

const perch = usePerch({}, { withWorker: true });
const operation = "GET /v1/agents/{agent_id}/invocations";
const params = { agent_id: "bot" };

async function createOrganisationWithRuns(contexts: readonly object[]) {
  const organisation = await perch().createOrganisation();
  await createScriptedAgent(organisation, [{ reply: "ok" }]);
  const ids: string[] = [];
  for (const context of contexts) {
    const { data } = await invokeAgent(perch(), organisation.adminKey, { message: "hello", context });
    ids.push(data.request_id);
    await sleep(2);
  }
  return { ...organisation, ids };
}

const listed = async ({ call }: Organisation, query: object = {}): Promise<string[]> =>
  ok(await call(operation, { params, query })).data.map(({ request_id }) => request_id);

describe(operation, () => {
  test("newest first, each with its outcome, without messages and responses", async () => {
    const organisation = await createOrganisationWithRuns([{ user_id: "ada" }, {}]);
    const { data, pagination } = ok(await organisation.call(operation, { params, query: {} }));
    expect(data.map(({ request_id }) => request_id)).toEqual(organisation.ids.toReversed());
    expect(data[1]).toEqual({
      request_id: organisation.ids[0],
      agent_id: expect.stringMatching(/^agent_/),
      status: "completed",
      environment: "production",
      version: null,
      deployment_id: null,
      user_id: "ada",
      session_id: null,
      error: null,
      error_code: null,
      retryable: null,
      steps: 1,
      tokens_used: 1,
      duration_ms: expect.any(Number),
      created_at: expect.any(String),
      finished_at: expect.any(String),
    });
    expect(pagination).toEqual({ limit: 10, offset: 0, total: 2, has_more: false, total_relation: "eq" });
  });

  test("pages, with the exact total", async () => {
    const organisation = await createOrganisationWithRuns(Array.from({ length: 5 }, () => ({})));
    const newest = organisation.ids.toReversed();
    const page = (limit: number, offset: number) =>
      organisation.call(operation, { params, query: { limit, offset } }).then(ok);
    const [first, last] = [await page(2, 0), await page(2, 4)];
    expect(first.data.map(({ request_id }) => request_id)).toEqual(newest.slice(0, 2));
    expect(first.pagination).toMatchObject({ total: 5, has_more: true });
    expect(last.data.map(({ request_id }) => request_id)).toEqual(newest.slice(4));
    expect(last.pagination).toMatchObject({ total: 5, has_more: false });
  });

  test("filters by session, environment and time", async () => {
    const organisation = await createOrganisationWithRuns([
      { session_id: "s" },
      { environment: "staging" },
      { session_id: "s" },
    ]);
    const [first = "", second = "", third = ""] = organisation.ids;
    expect(await listed(organisation, { session_id: "s" })).toEqual([third, first]);
    expect(await listed(organisation, { environment: "staging" })).toEqual([second]);
    expect(await listed(organisation, { environment: "staging", session_id: "s" })).toEqual([]);
    const { data } = ok(await organisation.call(operation, { params, query: {} }));
    const at = (id: string) => data.find(({ request_id }) => request_id === id)?.created_at ?? "";
    expect(await listed(organisation, { start_time: at(second) })).toEqual([third, second]);
    expect(await listed(organisation, { end_time: at(second) })).toEqual([first]);
    expect(await listed(organisation, { start_time: at(first), end_time: at(third) })).toEqual([second, first]);
    expect(await listed(organisation, { start_time: at(second).toLowerCase() })).toEqual([third, second]);
    expect(await listed(organisation, { start_time: new Date(Date.now() + 5000).toISOString() })).toEqual([]);
  });

  test("filters by status: running while it runs, then completed or failed", async () => {
    const organisation = await perch().createOrganisation();
    await createScriptedAgent(organisation, [{ reply: "ok", delay_ms: 600 }]);
    const slow = await invokeInBackground(perch(), organisation.adminKey, { message: "x" });
    expect(await listed(organisation, { status: "running" })).toEqual([slow]);
    expect(await listed(organisation, { status: "completed" })).toEqual([]);
    await expect.poll(() => listed(organisation, { status: "completed" })).toEqual([slow]);
    expect(await listed(organisation, { status: "running" })).toEqual([]);
    const failing = { model: "nobody/gpt" };
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params, body: failing }));
    const { error } = await invokeAgent(perch(), organisation.adminKey, { message: "x" });
    expect(await listed(organisation, { status: "failed" })).toEqual([error.details?.[0]?.error]);
  });

  test("a run with a waiting client is listed too, once it takes a while", async () => {
    const organisation = await perch().createOrganisation();
    await createScriptedAgent(organisation, [{ reply: "ok", delay_ms: 1500 }]);
    const waiting = invokeAgent(perch(), organisation.adminKey, { message: "x" });
    await expect.poll(() => listed(organisation, { status: "running" })).toHaveLength(1);
    const [running] = await listed(organisation);
    expect((await waiting).data.request_id).toBe(running);
  });

  test("counts up to 10,000, then reports a lower bound", async () => {
    const { id, call } = await createOrganisationWithRuns([]);
    const agent = ok(await call("GET /v1/agents/{agent_id}", { params })).data.id;
    const insert = (count: number) =>
      withClient(perch().database.adminUrl, (client) =>
        client.query(
          `insert into invocations (organisation_id, id, accepted_at, agent_id, status, environment, message)
           select $1, gen_random_uuid(), now(), $2, 'completed', 'production', 'x' from generate_series(1, $3)`,
          [parsePublicId("organisation", id) ?? id, parsePublicId("agent", agent), count],
        ),
      );
    await insert(10_000);
    const page = () => call(operation, { params, query: { offset: 9990 } }).then(ok);
    expect((await page()).pagination).toMatchObject({ total: 10_000, total_relation: "eq", has_more: false });
    await insert(1);
    expect((await page()).pagination).toMatchObject({ total: 10_000, total_relation: "gte", has_more: true });
  });

  test.each([{ status: "done" }, { start_time: "yesterday" }, { end_time: "2026-01-01" }, { user: "ada" }])(
    "400 for %j",
    async (query) => {
      const { call } = await createOrganisationWithRuns([]);
      const error = expectError(await call(operation, { params, query: query as never }));
      expect(error).toMatchObject({ status: 400, details: [{ field: Object.keys(query)[0] }] });
    },
  );

  test("404 hides agents of other organisations, and agents that the key is not bound to", async () => {
    const { call, createKey } = await createOrganisationWithRuns([{}]);
    ok(await call("POST /v1/agents", { body: { name: "other", model: "perch/echo" } }));
    const bound = await createKey({ role: "viewer", agent_id: "other" });
    expect(expectError(await call(operation, { params, query: {} }, bound)).status).toBe(404);
    const otherOrganisation = await perch().createOrganisation();
    expect(expectError(await otherOrganisation.call(operation, { params, query: {} })).status).toBe(404);
    expect(ok(await call(operation, { params: { agent_id: "other" }, query: {} }, bound)).data).toEqual([]);
  });
});
