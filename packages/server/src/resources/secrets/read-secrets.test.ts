import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { usePerch } from "../../../test/support/harness.ts";
import { createSecret } from "../../../test/support/secret-calls.ts";

const perch = usePerch();
const bot = { agent_id: "bot" };
const name = "github_token";

/** With secrets `b`, `c` and `a` of the organisation and `d` of its agent. */
async function createOrganisationWithSecrets() {
  const organisation = await perch().createOrganisation();
  ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
  for (const each of ["b", "c", "a"]) await createSecret(organisation, { name: each });
  await createSecret(organisation, { name: "d", agent: "bot" });
  return organisation;
}

describe("GET /v1/secrets", () => {
  test("200 with those for all agents, paged and sorted, and no agent's own", async () => {
    verifies("secrets.resource", "secrets.of-agents");
    const { call } = await createOrganisationWithSecrets();
    const namesOf = async (query: object) => ok(await call("GET /v1/secrets", { query })).data.map((each) => each.name);
    expect(await namesOf({})).toEqual(["a", "c", "b"]);
    expect(await namesOf({ sort: "created_at" })).toEqual(["b", "c", "a"]);
    expect(await namesOf({ sort: "-name" })).toEqual(["c", "b", "a"]);
    const page = ok(await call("GET /v1/secrets", { query: { sort: "name", limit: 1, offset: 1 } }));
    expect(page.data.map((each) => each.name)).toEqual(["b"]);
    expect(page.pagination).toEqual({ limit: 1, offset: 1, total: 3, has_more: true });
  });

  test("a viewer's key sees names and hosts", async () => {
    verifies("secrets.permissions");
    const { call, createKey } = await createOrganisationWithSecrets();
    const { data } = ok(await call("GET /v1/secrets", {}, await createKey({ role: "viewer" })));
    expect(data[0]).toMatchObject({ name: "a", hosts: ["api.github.com"] });
  });
});

describe("GET /v1/agents/{agent_id}/secrets", () => {
  test("200 with the agent's own", async () => {
    verifies("secrets.of-agents");
    const { call } = await createOrganisationWithSecrets();
    const { data, pagination } = ok(await call("GET /v1/agents/{agent_id}/secrets", { params: bot }));
    expect([data.map((each) => each.name), pagination.total]).toEqual([["d"], 1]);
  });
});

describe("GET /v1/secrets/{secret_name}", () => {
  test("200, and 404 for another organisation's and an agent's", async () => {
    const [mine, theirs] = [await createOrganisationWithSecrets(), await createOrganisationWithSecrets()];
    const created = await createSecret(mine);
    const get = "GET /v1/secrets/{secret_name}";
    expect(ok(await mine.call(get, { params: { secret_name: name } })).data).toEqual(created);
    expectError(await theirs.call(get, { params: { secret_name: name } }), "not_found");
    expectError(await mine.call(get, { params: { secret_name: "d" } }), "not_found");
  });
});

describe("GET /v1/agents/{agent_id}/secrets/{secret_name}", () => {
  test("200 for the agent's own, 404 for the organisation's", async () => {
    const organisation = await createOrganisationWithSecrets();
    const created = await createSecret(organisation, { agent: "bot" });
    const get = "GET /v1/agents/{agent_id}/secrets/{secret_name}";
    expect(ok(await organisation.call(get, { params: { ...bot, secret_name: name } })).data).toEqual(created);
    expectError(await organisation.call(get, { params: { ...bot, secret_name: "a" } }), "not_found");
  });
});

describe("DELETE /v1/secrets/{secret_name}", () => {
  test("200 once, then 404; never another organisation's, nor an agent's of the same name", async () => {
    const [mine, theirs] = [await createOrganisationWithSecrets(), await createOrganisationWithSecrets()];
    await createSecret(mine);
    await createSecret(mine, { agent: "bot" });
    const remove = "DELETE /v1/secrets/{secret_name}";
    const params = { secret_name: name };
    expectError(await theirs.call(remove, { params }), "not_found");
    expect(ok(await mine.call(remove, { params })).data).toEqual({ name, deleted: true });
    expectError(await mine.call(remove, { params }), "not_found");
    ok(await mine.call("GET /v1/agents/{agent_id}/secrets/{secret_name}", { params: { ...bot, ...params } }));
  });
});

describe("DELETE /v1/agents/{agent_id}/secrets/{secret_name}", () => {
  test("200 once, then 404; never the organisation's of the same name", async () => {
    const organisation = await createOrganisationWithSecrets();
    await createSecret(organisation);
    await createSecret(organisation, { agent: "bot" });
    const remove = "DELETE /v1/agents/{agent_id}/secrets/{secret_name}";
    const params = { ...bot, secret_name: name };
    expect(ok(await organisation.call(remove, { params })).data).toEqual({ name, deleted: true });
    expectError(await organisation.call(remove, { params }), "not_found");
    ok(await organisation.call("GET /v1/secrets/{secret_name}", { params: { secret_name: name } }));
  });
});
