import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { createSecret, secretValue } from "../../../test/support/secret-calls.ts";

const perch = usePerch();
const create = "POST /v1/secrets";
const createForAgent = "POST /v1/agents/{agent_id}/secrets";
const body = { name: "github_token", value: secretValue, hosts: ["api.github.com"] };
const bot = { agent_id: "bot" };

async function createOrganisationWithAgent(): Promise<Organisation> {
  const organisation = await perch().createOrganisation();
  ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
  return organisation;
}

describe(create, () => {
  test("201 with name, hosts, creator and time, and never the value", async () => {
    verifies("secrets.resource", "secrets.write-only");
    const { call } = await perch().createOrganisation();
    const { id: keyId } = ok(await call("GET /v1/me", {})).data.key;
    const { data } = ok(await call(create, { body }));
    const time = expect.stringMatching(/^20.*Z$/);
    expect(data).toEqual({
      name: "github_token",
      agent_id: null,
      approval: null,
      hosts: ["api.github.com"],
      created_by: keyId,
      created_at: time,
      updated_by: keyId,
      updated_at: time,
      last_used_at: null,
    });
  });

  test("the value is sealed, differently each time", async () => {
    verifies("secrets.sealed");
    const organisations = [await perch().createOrganisation(), await perch().createOrganisation()];
    for (const organisation of organisations) await createSecret(organisation);
    const { rows } = await withClient(perch().database.adminUrl, (admin) =>
      admin.query<{ sealed: Buffer }>("select sealed_value as sealed from secrets"),
    );
    expect(rows.length).toBeGreaterThanOrEqual(2);
    expect(new Set(rows.map(({ sealed }) => sealed.toString("hex"))).size).toBe(rows.length);
    for (const { sealed } of rows) expect(sealed.includes(secretValue.slice(0, 8))).toBe(false);
  });

  test("each host is shown as the origin that it stands for, once", async () => {
    verifies("secrets.hosts");
    const { call } = await perch().createOrganisation();
    const hosts = ["https://api.github.com:443", "api.github.com", "tools.example:8443", "http://127.0.0.1:3000"];
    expect(ok(await call(create, { body: { ...body, hosts } })).data.hosts).toEqual([
      "api.github.com",
      "tools.example:8443",
      "http://127.0.0.1:3000",
    ]);
  });

  test.each([
    ["name", { ...body, name: "GitHub" }],
    ["name", { ...body, name: "" }],
    ["name", { ...body, name: "a".repeat(64) }],
    ["value", { ...body, value: "seven77" }],
    ["value", { ...body, value: "x".repeat(4097) }],
    ["value", { ...body, value: "first line\nsecond line" }],
    ["value", { ...body, value: "not ascii: é" }],
    ["value", { ...body, value: " leading space" }],
    ["value", { ...body, value: undefined }],
    ["hosts", { ...body, hosts: undefined }],
    ["hosts", { ...body, hosts: [] }],
    ["hosts", { ...body, hosts: Array.from({ length: 17 }, (_, i) => `h${i}.example`) }],
    ["hosts", { ...body, hosts: ["a.example", "a.example"] }],
    ["hosts.0", { ...body, hosts: ["*.github.com"] }],
    ["hosts.0", { ...body, hosts: ["*"] }],
    ["hosts.0", { ...body, hosts: ["user@api.github.com"] }],
    ["hosts.0", { ...body, hosts: ["api.github.com/repos"] }],
    ["hosts.0", { ...body, hosts: ["API.github.com"] }],
    ["hosts.0", { ...body, hosts: ["api.github.com."] }],
    ["hosts.0", { ...body, hosts: ["ftp://api.github.com"] }],
    ["hosts.1", { ...body, hosts: ["a.example", "b.example:70000"] }],
  ])("400 names %s: %j", async (field, wrong) => {
    verifies("secrets.hosts", "secrets.resource");
    const { call } = await perch().createOrganisation();
    const answer = await call(create, { body: wrong as typeof body });
    const { details } = expectError(answer, "invalid_request");
    expect(details?.map((detail) => detail.field)).toContain(field);
    if (wrong.value) expect(JSON.stringify(answer.body)).not.toContain(wrong.value.slice(0, 7));
  });

  test("409 for a name that is taken in the same organisation, not in another", async () => {
    const [mine, theirs] = [await perch().createOrganisation(), await perch().createOrganisation()];
    await createSecret(theirs);
    await createSecret(mine);
    expect(expectError(await mine.call(create, { body }), "conflict").message).toBe(
      'There is a secret called "github_token" already. Change that one.',
    );
  });

  test("403 for a key that belongs to one agent, also to read", async () => {
    verifies("secrets.permissions");
    const organisation = await createOrganisationWithAgent();
    const { call, createKey } = organisation;
    await createSecret(organisation);
    const bound = await createKey({ role: "admin", agent_id: "bot" });
    const params = { secret_name: "github_token" };
    const answers = [
      await call(create, { body: { ...body, name: "other" } }, bound),
      await call("GET /v1/secrets", { query: {} }, bound),
      await call("GET /v1/secrets/{secret_name}", { params }, bound),
      await call("PATCH /v1/secrets/{secret_name}", { params, body: { value: "another value" } }, bound),
      await call("DELETE /v1/secrets/{secret_name}", { params }, bound),
    ];
    for (const answer of answers)
      expect(expectError(answer, "forbidden").message).toContain("that agent's own secrets");
  });
});

describe(createForAgent, () => {
  test("201 for one agent, beside the organisation's secret and another agent's of the same name", async () => {
    verifies("secrets.of-agents");
    const organisation = await createOrganisationWithAgent();
    const { call } = organisation;
    const agent = ok(await call("GET /v1/agents/{agent_id}", { params: bot })).data;
    ok(await call("POST /v1/agents", { body: { name: "other", model: "perch/echo" } }));
    expect((await createSecret(organisation)).agent_id).toBeNull();
    expect((await createSecret(organisation, { agent: "bot" })).agent_id).toBe(agent.id);
    expect((await createSecret(organisation, { agent: "other" })).agent_id).not.toBe(agent.id);
    expectError(await call(createForAgent, { params: bot, body }), "conflict");
  });

  test("a key that belongs to the agent manages the agent's own secrets, and no other agent's", async () => {
    verifies("secrets.permissions");
    const { call, createKey } = await createOrganisationWithAgent();
    ok(await call("POST /v1/agents", { body: { name: "other", model: "perch/echo" } }));
    const bound = await createKey({ role: "admin", agent_id: "bot" });
    ok(await call(createForAgent, { params: bot, body }, bound));
    expectError(await call(createForAgent, { params: { agent_id: "other" }, body }, bound), "not_found");
  });

  test("404 for an agent that does not exist or was deleted", async () => {
    const { call } = await createOrganisationWithAgent();
    expectError(await call(createForAgent, { params: { agent_id: "nobody" }, body }), "not_found");
    ok(await call("DELETE /v1/agents/{agent_id}", { params: bot }));
    expectError(await call(createForAgent, { params: bot, body }), "not_found");
  });
});
