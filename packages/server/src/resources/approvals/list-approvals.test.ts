import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { createOrganisationWithApprover, insertWaitingRun } from "../../../test/support/stored-approvals.ts";
import { insertWaitingRuns } from "../../../test/support/waiting-run-rows.ts";
import { parsePublicId } from "../../platform/ids.ts";
import { maxReadApprovals } from "./approval-queries.ts";

const perch = usePerch();
let organisation: Organisation;
let approver: string;
/** The approvals of `bot` and of `other`, oldest first. */
let ofBot: readonly string[];
let ofOther: readonly string[];
let run: string;

beforeAll(async () => {
  ({ organisation, approver } = await createOrganisationWithApprover(perch()));
  ok(await organisation.call("POST /v1/agents", { body: { name: "other", model: "perch/echo" } }));
  const calls = [{ tool: "pay" }, { tool: "ship", expiresInSeconds: 60 }, { kind: "question" as const, tool: "ask" }];
  const wait = await insertWaitingRun(perch(), organisation, { calls, userId: "user-1", sessionId: "s-1" });
  ofBot = wait.approvals;
  run = wait.run;
  ofOther = (await insertWaitingRun(perch(), organisation, { agent: "other" })).approvals;
  const params = { approval_id: ofBot[0] ?? "" };
  ok(await organisation.call("POST /v1/approvals/{approval_id}/approve", { params, body: {} }, approver));
});

const list = async (query: object = {}, key = approver) =>
  ok(await organisation.call("GET /v1/approvals", { query }, key));
const idsOf = async (query: object = {}, key = approver) => (await list(query, key)).data.map(({ id }) => id);

describe("GET /v1/approvals", () => {
  test("newest first, in pages that follow each other, without arguments", async () => {
    const all = [...ofOther, ...ofBot.toReversed()];
    expect(await idsOf()).toEqual(all);
    const first = await list({ limit: 3 });
    expect(first.pagination).toMatchObject({ limit: 3, has_more: true });
    const second = await list({ limit: 3, cursor: first.pagination.next_cursor });
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(all);
    expect(second.pagination).toEqual({ limit: 3, has_more: false, next_cursor: null });
    expect(JSON.stringify(first)).not.toContain("ACME");
    expectError(await organisation.call("GET /v1/approvals", { query: { cursor: "x" } }), "invalid_request");
  });

  test("each filter keeps what fits it", async () => {
    const [paid, shipped, asked] = ofBot;
    expect(await idsOf({ status: "approved" })).toEqual([paid]);
    expect(await idsOf({ status: "open" })).toEqual([...ofOther, asked, shipped]);
    expect(await idsOf({ kind: "question" })).toEqual([asked]);
    expect(await idsOf({ tool: "ship" })).toEqual([shipped]);
    expect(await idsOf({ agent_id: "other" })).toEqual(ofOther);
    expect(await idsOf({ request_id: run })).toEqual(ofBot.toReversed());
    expect(await idsOf({ user_id: "user-1", session_id: "s-1", status: "approved" })).toEqual([paid]);
    expect(await idsOf({ expires_within_seconds: 120 })).toEqual([shipped]);
    expect(await idsOf({ user_id: "no-such-user" })).toEqual([]);
    expectError(await organisation.call("GET /v1/approvals", { query: { agent_id: "no-such" } }), "not_found");
  });

  test("open ones are counted, of all agents or of one", async () => {
    expect((await list({ status: "approved" })).open).toEqual({ count: 3, relation: "eq" });
    expect((await list({ agent_id: "other" })).open).toEqual({ count: 1, relation: "eq" });
  });

  test("a key of one agent lists, counts and gets only that agent's", async () => {
    const key = await organisation.createKey({ permissions: ["read", "approve"], agent_id: "other" });
    expect(await idsOf({}, key)).toEqual(ofOther);
    expect((await list({}, key)).open.count).toBe(1);
    for (const [approval_id = "", status] of [[ofBot[1], 404] as const, [ofOther[0], 200] as const])
      expect(
        (await organisation.call("GET /v1/approvals/{approval_id}", { params: { approval_id } }, key)).status,
      ).toBe(status);
    const params = { approval_id: ofBot[1] ?? "" };
    const answer = await organisation.call("POST /v1/approvals/{approval_id}/approve", { params, body: {} }, key);
    expectError(answer, "not_found");
  });

  test("an agent whose settings refuse the caller is left out of lists and counts, and its approvals refuse too", async () => {
    // Set in the database, because the API does not allow a key to lock itself out.
    await withClient(perch().database.adminUrl, (client) =>
      client.query(`update agents set security = $1 where name = 'other'`, [
        { ipWhitelist: { enabled: true, addresses: ["192.0.2.1"] } },
      ]),
    );
    // Invalidates the caches of agents.
    ok(await organisation.call("POST /v1/agents/{agent_id}/pause", { params: { agent_id: "bot" } }));
    expect(await idsOf({ status: "open" })).toEqual([ofBot[2], ofBot[1]]);
    expect((await list()).open.count).toBe(2);
    const params = { approval_id: ofOther[0] ?? "" };
    for (const answer of [
      await organisation.call("GET /v1/approvals/{approval_id}", { params }, approver),
      await organisation.call("POST /v1/approvals/{approval_id}/approve", { params, body: {} }, approver),
    ])
      expectError(answer, "forbidden");
  });

  test("the count reads no more than a list, and reports that; approvals of deleted agents are not counted", async () => {
    const counted = await perch().createOrganisation("enterprise");
    const create = async (name: string) =>
      ok(await counted.call("POST /v1/agents", { body: { name, model: "perch/echo" } })).data.id;
    const insert = (agent: string, count: number) =>
      insertWaitingRuns(perch().database.adminUrl, { organisation: counted.id, agent, count });
    const open = async () => ok(await counted.call("GET /v1/approvals", {})).open;
    const deleted = await create("deleted");
    await insert(await create("kept"), 3);
    await insert(deleted, 50);
    expect(await open()).toEqual({ count: 53, relation: "eq" });
    // Past the API, which also cancels them.
    const erase = "update agents set deleted_at = now() where organisation_id = $1 and name = 'deleted'";
    await withClient(perch().database.adminUrl, (client) =>
      client.query(erase, [parsePublicId("organisation", counted.id)]),
    );
    expect(await open()).toEqual({ count: 3, relation: "eq" });
    await insert(deleted, maxReadApprovals);
    expect(await open()).toMatchObject({ relation: "gte" });
  });
});
