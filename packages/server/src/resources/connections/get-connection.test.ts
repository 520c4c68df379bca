import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { usePerch } from "../../../test/support/harness.ts";
import { insertConnection } from "../../../test/support/stored-connections.ts";

const perch = usePerch();

const createOrganisationWithAgents = async () => {
  const organisation = await perch().createOrganisation();
  for (const name of ["bot", "other"])
    ok(await organisation.call("POST /v1/agents", { body: { name, model: "perch/echo" } }));
  return organisation;
};

describe("GET /v1/agents/{agent_id}/connections/{connection_id}", () => {
  test("shows the state, the receiver and the issuer of the tokens, and no token", async () => {
    const organisation = await createOrganisationWithAgents();
    const connection_id = await insertConnection(perch(), organisation, { status: "needs_reauth" });
    const params = { agent_id: "bot", connection_id };
    const answer = await organisation.call("GET /v1/agents/{agent_id}/connections/{connection_id}", { params });
    expect(ok(answer).data).toMatchObject({
      id: connection_id,
      user_id: "ada",
      tool: "book",
      status: "needs_reauth",
      reason: "The provider refused it.",
      sent_to: "https://tools.example",
      issuer: "https://login.example",
      connected_at: expect.any(String),
      revoked_at: null,
      provider_revocation: null,
    });
    expect(JSON.stringify(answer.body)).not.toMatch(/access-|refresh-|sealed|digest/);
  });

  test("404 is the same for one of another agent, a foreign, an unknown and a malformed one", async () => {
    const organisation = await createOrganisationWithAgents();
    const foreign = await createOrganisationWithAgents();
    const ids = [
      await insertConnection(perch(), organisation, { agent: "other" }),
      await insertConnection(perch(), foreign),
      "conn_01h455vb4pex5vsknk084sn02q",
      "conn_",
      "x",
    ];
    for (const connection_id of ids) {
      const params = { agent_id: "bot", connection_id };
      for (const answer of [
        await organisation.call("GET /v1/agents/{agent_id}/connections/{connection_id}", { params }),
        await organisation.call("POST /v1/agents/{agent_id}/connections/{connection_id}/revoke", { params }),
        await organisation.call("POST /v1/agents/{agent_id}/connections/{connection_id}/confirm", {
          params,
          body: { user_id: "ada", code: "x" },
        }),
      ])
        expect(expectError(answer, "not_found").message).toBe(
          `There is no connection ${JSON.stringify(connection_id)} that this key can reach.`,
        );
    }
  });

  test("a deleted agent has none", async () => {
    const organisation = await createOrganisationWithAgents();
    const connection_id = await insertConnection(perch(), organisation);
    ok(await organisation.call("DELETE /v1/agents/{agent_id}", { params: { agent_id: "bot" } }));
    const params = { agent_id: "bot", connection_id };
    const answer = await organisation.call("GET /v1/agents/{agent_id}/connections/{connection_id}", { params });
    expectError(answer, "not_found");
  });
});
