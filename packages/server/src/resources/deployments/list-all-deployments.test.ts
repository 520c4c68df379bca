import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { createDeployment } from "../../../test/support/deployment-calls.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { parsePublicId } from "../../platform/ids.ts";
import { maxReadDeployments } from "./list-all-deployments.ts";

const perch = usePerch();
const operation = "GET /v1/deployments";

/** Deployments of two agents in turn; without a worker they stay pending. */
async function createOrganisationWithDeployments(count: number) {
  const organisation = await perch().createOrganisation();
  for (const name of ["bot", "other"])
    ok(await organisation.call("POST /v1/agents", { body: { name, model: "perch/echo" } }));
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    const environment = i % 3 === 0 ? "staging" : "production";
    const made = await createDeployment(organisation, { environment, version: "v1" }, i % 2 === 0 ? "bot" : "other");
    ids.push(made.id);
  }
  return { ...organisation, newest: ids.toReversed() };
}

const page = async ({ call }: Organisation, query: object = {}, as?: string) =>
  ok(await call(operation, { query }, as));
const listed = async (organisation: Organisation, query: object = {}, as?: string) =>
  (await page(organisation, query, as)).data.map(({ id }) => id);

/** Follows the cursors to the end. */
async function listPages(organisation: Organisation, query: object): Promise<string[][]> {
  const pages: string[][] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { data, pagination } = await page(organisation, { ...query, ...(cursor && { cursor }) });
    pages.push(data.map(({ id }) => id));
    cursor = pagination.next_cursor;
  }
  return pages;
}

/** Copies one deployment to the environment `copies`, as if it had been made many times more. */
const insertCopies = (id: string, count: number) =>
  withClient(perch().database.adminUrl, (client) =>
    client.query(
      `insert into deployments (organisation_id, id, agent_id, environment, version, status, traffic_percent, origin)
         select organisation_id, gen_random_uuid(), agent_id, 'copies', version, 'pending', 100, origin
           from deployments, generate_series(1, $2) where id = $1`,
      [parsePublicId("deployment", id), count],
    ),
  );

describe(operation, () => {
  test("lists the deployments of all agents, newest first, with the names of their agents", async () => {
    verifies("deployments.listed-across-agents");
    const organisation = await createOrganisationWithDeployments(3);
    const { data, pagination } = await page(organisation);
    expect(data.map(({ id }) => id)).toEqual(organisation.newest);
    expect(data.map(({ agent_name }) => agent_name)).toEqual(["bot", "other", "bot"]);
    const [{ agent_name, ...own } = { agent_name: "" }] = data;
    const params = { agent_id: agent_name, deployment_id: organisation.newest[0] ?? "" };
    const single = await organisation.call("GET /v1/agents/{agent_id}/deployments/{deployment_id}", { params });
    expect(own).toEqual(ok(single).data);
    expect(pagination).toEqual({ limit: 10, has_more: false, next_cursor: null });
  });

  test("pages show every deployment exactly once, and the last shows that there are no more", async () => {
    verifies("deployments.listed-across-agents");
    const organisation = await createOrganisationWithDeployments(6);
    const pages = await listPages(organisation, { limit: 2 });
    expect(pages.flat()).toEqual(organisation.newest);
    expect(pages).toHaveLength(3);
  });

  test("filters by agent, environment, status and time", async () => {
    const organisation = await createOrganisationWithDeployments(5);
    const [e, d, c, b, a] = organisation.newest;
    expect(await listed(organisation, { agent_id: "bot" })).toEqual([e, c, a]);
    expect(await listed(organisation, { environment: "staging" })).toEqual([d, a]);
    expect(await listed(organisation, { environment: "staging", agent_id: "bot" })).toEqual([a]);
    expect(await listed(organisation, { status: "pending" })).toEqual(organisation.newest);
    expect(await listed(organisation, { status: "active" })).toEqual([]);
    const at = (await page(organisation)).data.find(({ id }) => id === c)?.created_at;
    expect(await listed(organisation, { start_time: at })).toEqual([e, d, c]);
    expect(await listed(organisation, { end_time: at })).toEqual([b, a]);
  });

  test("reads a bounded number, and continues where it stopped", async () => {
    const organisation = await createOrganisationWithDeployments(1);
    const [first = ""] = organisation.newest;
    await insertCopies(first, maxReadDeployments + 5);
    expect(await listPages(organisation, { environment: "staging" })).toEqual([[], [first]]);
    const start_time = new Date(Date.now() + 2 * 3_600_000).toISOString();
    expect(await listPages(organisation, { start_time })).toEqual([[]]);
  });

  test("a key that belongs to one agent sees that agent's deployments only; those of deleted agents are left out", async () => {
    const organisation = await createOrganisationWithDeployments(4);
    const [, ofBot, , firstOfBot] = organisation.newest;
    const key = await organisation.createKey({ role: "viewer", agent_id: "bot" });
    expect(await listed(organisation, {}, key)).toEqual([ofBot, firstOfBot]);
    expectError(await organisation.call(operation, { query: { agent_id: "other" } }, key), "not_found");
    ok(await organisation.call("DELETE /v1/agents/{agent_id}", { params: { agent_id: "other" } }));
    expect(await listed(organisation)).toEqual([ofBot, firstOfBot]);
  });

  test.each([{ cursor: "x" }, { cursor: "LTE" }, { offset: 1 }, { status: "done" }, { environment: "A" }])(
    "400 for %j",
    async (query) => {
      const { call } = await createOrganisationWithDeployments(0);
      const error = expectError(await call(operation, { query: query as never }), "invalid_request");
      expect(error.details?.[0]?.field).toBe(Object.keys(query)[0]);
    },
  );
});
