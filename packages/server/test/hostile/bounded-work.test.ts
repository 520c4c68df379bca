import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { describe, expect, test } from "vitest";
import { newUuid, parsePublicId, toPublicId, uuidTime } from "../../src/platform/ids.ts";
import { listInvocations } from "../../src/runs/record/invocation-queries.ts";
import { expectError, ok } from "../support/contract-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";

// The work of a process for one request is bounded by bytes, and the requests of one organisation delay no other.

const perch = usePerch();

async function createOrganisationWithAgent(instructions = "") {
  const organisation = await perch().createOrganisation();
  const { id } = ok(
    await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo", instructions } }),
  ).data;
  const ids = {
    organisationId: parsePublicId("organisation", organisation.id) ?? "",
    agentId: parsePublicId("agent", id) ?? "",
  };
  return { ...organisation, ...ids };
}

describe("a list of invocations", () => {
  test("reads neither messages nor responses", async () => {
    const { organisationId, agentId, call } = await createOrganisationWithAgent();
    const id = newUuid();
    await withClient(perch().database.adminUrl, (client) =>
      client.query(
        `insert into invocations (organisation_id, id, accepted_at, agent_id, status, environment, message, response)
         values ($1, $2, $3, $4, 'completed', 'production', repeat('m', 262144), repeat('r', 1000000))`,
        [organisationId, id, uuidTime(id), agentId],
      ),
    );
    const rows = await perch().server.core.db.inOrganisation(organisationId, (trx) =>
      listInvocations(trx, organisationId, agentId, {}, { limit: 100, offset: 0 }),
    );
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows).length).toBeLessThan(1000);
    const { data } = ok(
      await call("GET /v1/agents/{agent_id}/invocations", { params: { agent_id: "bot" }, query: {} }),
    );
    expect(data.map(({ request_id }) => request_id)).toEqual([toPublicId("request", id)]);
  });
});

describe("reads across agents", () => {
  test("beyond an organisation's part wait, then are 429, and no other organisation notices", async () => {
    const greedy = await perch().createOrganisation("free");
    const other = await perch().createOrganisation("free");
    const ownerId = parsePublicId("organisation", greedy.id) ?? "";
    const { readsAcrossAgents } = perch().server.core.shares.of;
    // A read of everything, which the database has not answered yet.
    await greedy.call("GET /v1/me", {});
    const giveBack = await readsAcrossAgents.acquire(ownerId);
    const read = ({ call }: Organisation) =>
      Promise.all([call("GET /v1/metrics", { query: {} }), call("GET /v1/invocations", { query: {} })]);
    const waiting = read(greedy);
    for (const answer of await read(other)) expect(answer.status).toBe(200);
    for (const answer of await waiting) expectError(answer, "rate_limited");
    giveBack();
    for (const answer of await read(greedy)) expect(answer.status).toBe(200);
  }, 20_000);
});

describe("a diff of versions", () => {
  test("never answers with more than a small multiple of its input", async () => {
    const { call, organisationId } = await createOrganisationWithAgent();
    const parameters = (value: number) => ({
      type: "object",
      ["x".repeat(20_000)]: Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`f${i}`, value])),
    });
    const tools = (value: number) =>
      [
        {
          type: "http",
          name: "t",
          description: "x",
          method: "POST",
          url: "https://x.example",
          parameters: parameters(value),
        },
      ] as never;
    ok(
      await call("PATCH /v1/agents/{agent_id}", { params: { agent_id: "bot" }, query: {}, body: { tools: tools(1) } }),
    );
    await withClient(perch().database.adminUrl, (client) =>
      client.query(
        `insert into agent_versions (organisation_id, agent_id, label, definition, checksum)
         select organisation_id, id, 'v1', definition, sha256('v1') from agents where organisation_id = $1`,
        [organisationId],
      ),
    );
    ok(
      await call("PATCH /v1/agents/{agent_id}", { params: { agent_id: "bot" }, query: {}, body: { tools: tools(2) } }),
    );
    const answer = await call("GET /v1/agents/{agent_id}/versions/{version}/diff", {
      params: { agent_id: "bot", version: "v1" },
      query: {},
    });
    expect(JSON.stringify(ok(answer)).length).toBeLessThan(2_000_000);
  });
});

describe("the local embedder", () => {
  const longQuery = "a rather long question about orders and parcels ".repeat(100);
  const searchOf = ({ adminKey }: Organisation, signal?: AbortSignal) =>
    fetch(`${perch().url}/v1/agents/bot/memory/search`, {
      method: "POST",
      headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
      body: JSON.stringify({ query: longQuery, mode: "vector" }),
      ...(signal && { signal }),
    });

  /** The first question loads the embedder, which may take longer than a question may wait. */
  const loadEmbedder = (organisation: Organisation) =>
    expect.poll(async () => (await searchOf(organisation)).status, { timeout: 30_000 }).toBe(200);

  test("does not spend time on questions whose clients have gone", async () => {
    const [hostile, other] = [await createOrganisationWithAgent(), await createOrganisationWithAgent()];
    await loadEmbedder(other);
    const gone = new AbortController();
    const asked = Array.from({ length: 400 }, () => searchOf(hostile, gone.signal).catch(() => undefined));
    await new Promise((resolve) => setTimeout(resolve, 2000));
    gone.abort();
    await Promise.all(asked);
    // A question waits for 5 s at most, and 400 take longer than that.
    expect((await searchOf(other)).status).toBe(200);
  });

  test("answers an organisation with one question while another has many", async () => {
    const [hostile, other] = [await createOrganisationWithAgent(), await createOrganisationWithAgent()];
    await loadEmbedder(other);
    let answered = 0;
    const asked = Array.from({ length: 150 }, async () => {
      const { status } = await searchOf(hostile);
      if (status === 200) answered++;
      return status;
    });
    expect((await searchOf(other)).status).toBe(200);
    expect(answered).toBeLessThan(30);
    // Requests of the other organisation that waited too long got an error.
    for (const status of await Promise.all(asked)) expect([200, 429, 503]).toContain(status);
  });
});
