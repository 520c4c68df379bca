import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { insertRuns, type StoredRuns } from "../../../test/support/stored-runs.ts";
import { newPublicId, toPublicId } from "../../platform/ids.ts";
import { maxReadRuns } from "../record/list-all-invocations.ts";

const perch = usePerch();
const operation = "GET /v1/invocations";
const dayMs = 86_400_000;
const startOfToday = Math.floor(Date.now() / dayMs) * dayMs;

interface WithRuns extends Organisation {
  readonly agents: Readonly<Record<"bot" | "other", string>>;
  readonly insert: (agent: "bot" | "other", runs?: Partial<StoredRuns>) => Promise<string[]>;
}

async function createOrganisationWithAgents(): Promise<WithRuns> {
  const organisation = await perch().createOrganisation();
  const create = async (name: string) =>
    ok(await organisation.call("POST /v1/agents", { body: { name, model: "perch/echo" } })).data.id;
  const agents = { bot: await create("bot"), other: await create("other") };
  return {
    ...organisation,
    agents,
    insert: (agent, runs) =>
      insertRuns(perch().database.adminUrl, { organisation: organisation.id, agent: agents[agent], ...runs }),
  };
}

const page = async ({ call }: Organisation, query: object = {}, as?: string) =>
  ok(await call(operation, { query }, as));
const idsOf = ({ data }: Awaited<ReturnType<typeof page>>) => data.map(({ request_id }) => request_id);
const listed = async (organisation: Organisation, query: object = {}, as?: string) =>
  idsOf(await page(organisation, { limit: 100, ...query }, as));

/** Follows the cursors to the end. */
async function listPages(organisation: Organisation, query: object, between = async () => {}): Promise<string[][]> {
  const pages: string[][] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { data, pagination } = await page(organisation, { ...query, ...(cursor && { cursor }) });
    pages.push(data.map(({ request_id }) => request_id));
    expect(pagination.has_more).toBe(pagination.next_cursor !== null);
    cursor = pagination.next_cursor;
    await between();
  }
  return pages;
}

beforeAll(() =>
  // As on a node that has been running for a month.
  withClient(perch().database.ownerUrl, (client) => client.query("select maintain_partitions('invocations', 30, 2)")),
);

describe(operation, () => {
  test("finds one run by its id only, with its agent, and none of another organisation", async () => {
    verifies("runs.found-by-id");
    const organisation = await createOrganisationWithAgents();
    const [wanted = ""] = await organisation.insert("other", { count: 3 });
    const { data, pagination } = await page(organisation, { request_id: wanted });
    expect(data).toMatchObject([{ request_id: wanted, agent_id: organisation.agents.other, agent_name: "other" }]);
    expect(pagination.next_cursor).toBeNull();
    expect(await listed(organisation, { request_id: wanted, agent_id: "bot" })).toEqual([]);
    expect(await listed(await createOrganisationWithAgents(), { request_id: wanted })).toEqual([]);
    expect(await listed(organisation, { request_id: newPublicId("request") })).toEqual([]);
    const last = toPublicId("request", "ffffffff-ffff-7fff-bfff-ffffffffffff");
    expect(await listed(organisation, { request_id: last })).toEqual([]);
  });

  test("lists the runs of all agents, newest first, with the names of their agents and no messages", async () => {
    verifies("runs.listed-across-agents");
    const organisation = await createOrganisationWithAgents();
    const [older] = await organisation.insert("bot", { newest: new Date(Date.now() - 5000), userId: "ada" });
    const [newer] = await organisation.insert("other");
    const { data, pagination } = await page(organisation);
    expect(data.map(({ request_id, agent_name }) => [request_id, agent_name])).toEqual([
      [newer, "other"],
      [older, "bot"],
    ]);
    expect(data[1]).toMatchObject({ agent_id: organisation.agents.bot, user_id: "ada", status: "completed" });
    expect(data[1]).not.toHaveProperty("message");
    expect(pagination).toEqual({ limit: 10, has_more: false, next_cursor: null });
  });

  test("paging shows every run exactly once, across days, while new ones arrive", async () => {
    verifies("runs.listed-across-agents");
    const organisation = await createOrganisationWithAgents();
    const stored = [
      ...(await organisation.insert("bot", { count: 7, stepMs: 0 })),
      ...(await organisation.insert("other", { count: 60, stepMs: dayMs / 2, newest: new Date(startOfToday) })),
    ];
    const arrive = async () => void (await organisation.insert("bot"));
    const pages = await listPages(organisation, { limit: 3 }, arrive);
    expect(pages.flat()).toEqual(stored.toSorted().toReversed());
    expect(pages.slice(0, -1).every((ids) => ids.length === 3)).toBe(true);
  });

  test("a full last page shows that there are no more", async () => {
    const organisation = await createOrganisationWithAgents();
    await organisation.insert("bot", { count: 4, stepMs: (10 * dayMs) / 4 });
    expect((await listPages(organisation, { limit: 2 })).map((ids) => ids.length)).toEqual([2, 2]);
    expect((await page(organisation, { limit: 4 })).pagination.next_cursor).toBeNull();
  });

  describe("filters", () => {
    const deployment = newPublicId("deployment");
    let organisation: WithRuns;
    const made: Record<string, string | undefined> = {};
    beforeAll(async () => {
      organisation = await createOrganisationWithAgents();
      const kinds: Readonly<Record<string, Partial<StoredRuns>>> = {
        plain: {},
        failed: { status: "failed" },
        running: { status: "running" },
        user: { userId: "ada" },
        session: { sessionId: "s" },
        staging: { environment: "staging" },
        version: { version: "v1" },
        deployed: { version: "v2", deployment },
        slow: { durationMs: 5000 },
      };
      const nowMs = Date.now() - 60_000;
      for (const [at, [name, kind]] of Object.entries(kinds).entries())
        [made[name]] = await organisation.insert("bot", { ...kind, newest: new Date(nowMs + at * 1000) });
    });

    test.each([
      ["failed", { status: "failed" }],
      ["running", { status: "running" }],
      ["user", { user_id: "ada" }],
      ["session", { session_id: "s" }],
      ["staging", { environment: "staging" }],
      ["version", { version: "v1" }],
      ["deployed", { deployment_id: deployment }],
      ["slow", { min_duration_ms: 5000 }],
    ])("%s: by %j, with and without the agent", async (name, query) => {
      expect(await listed(organisation, query)).toEqual([made[name]]);
      expect(await listed(organisation, { ...query, agent_id: "bot" })).toEqual([made[name]]);
      expect(await listed(organisation, { ...query, agent_id: "other" })).toEqual([]);
    });

    test("by a deployment that does not exist: none", async () => {
      for (const deployment_id of [newPublicId("deployment"), "dep_01kg0000000000000000000001"])
        expect(await listed(organisation, { deployment_id })).toEqual([]);
    });

    test("by version `draft`: runs of no version", async () => {
      const drafts = await listed(organisation, { version: "draft" });
      expect(drafts).toHaveLength(7);
      expect(drafts).not.toContain(made.version);
    });

    test.each([{}, { agent_id: "bot" }])("by time, to the millisecond, with %j", async (query) => {
      const all = (await page(organisation, { limit: 100, ...query })).data;
      const at = (name: string) => all.find(({ request_id }) => request_id === made[name])?.created_at ?? "";
      const between = { ...query, start_time: at("failed"), end_time: at("session") };
      expect(await listed(organisation, between)).toEqual([made.user, made.running, made.failed]);
      expect(await listed(organisation, { ...query, start_time: at("slow") })).toEqual([made.slow]);
      expect(await listed(organisation, { ...query, end_time: at("plain") })).toEqual([]);
      expect(await listed(organisation, { ...query, start_time: "9999-01-01T00:00:00Z" })).toEqual([]);
      expect(await listed(organisation, { ...query, end_time: "0001-01-01T00:00:00Z" })).toEqual([]);
      expect(await listed(organisation, { ...query, start_time: "0001-01-01T00:00:00Z" })).toHaveLength(9);
      const reversed = { ...query, start_time: at("slow"), end_time: at("plain") };
      expect(await listed(organisation, reversed)).toEqual([]);
    });
  });

  test("reads a bounded number of runs, and continues where it stopped until all that match were shown", async () => {
    verifies("runs.list-bounded");
    const organisation = await createOrganisationWithAgents();
    const newest = new Date(Date.now() - 2000);
    const [last] = await organisation.insert("bot", { status: "failed" });
    await organisation.insert("bot", { count: maxReadRuns + 5, stepMs: 0, newest });
    const [first] = await organisation.insert("bot", { status: "failed", newest: new Date(newest.getTime() - 1000) });
    for (const query of [{ status: "failed" }, { status: "failed", agent_id: "bot" }])
      expect(await listPages(organisation, query)).toEqual([[last], [first]]);
  });

  test("a key that belongs to one agent sees that agent's runs only", async () => {
    const organisation = await createOrganisationWithAgents();
    await organisation.insert("bot");
    const own = await organisation.insert("other");
    const key = await organisation.createKey({ role: "viewer", agent_id: "other" });
    expect(await listed(organisation, {}, key)).toEqual(own);
    expect(expectError(await organisation.call(operation, { query: { agent_id: "bot" } }, key)).status).toBe(404);
  });

  test("runs of deleted agents are left out", async () => {
    const organisation = await createOrganisationWithAgents();
    const kept = await organisation.insert("bot", { newest: new Date(Date.now() - 5000) });
    await organisation.insert("other", { count: 5 });
    ok(await organisation.call("DELETE /v1/agents/{agent_id}", { params: { agent_id: "other" } }));
    expect(await listed(organisation)).toEqual(kept);
  });

  test.each([
    { cursor: "x" },
    { cursor: "" },
    { cursor: "WzE3Njk4NjA4MDAwMDAsIjEiXQ" },
    { cursor: "_____________________w" },
    { limit: 101 },
    { offset: 1 },
    { status: "done" },
    { deployment_id: "v1" },
    { min_duration_ms: "1.5" },
    { start_time: "yesterday" },
  ])("400 for %j", async (query) => {
    const { call } = await createOrganisationWithAgents();
    const error = expectError(await call(operation, { query: query as never }), "invalid_request");
    expect(error.details?.[0]?.field).toBe(Object.keys(query)[0]);
  });
});
