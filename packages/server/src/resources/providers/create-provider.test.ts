import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { createModelProvider, providerSecret } from "../../../test/support/create-model-provider.ts";
import { usePerch } from "../../../test/support/harness.ts";

const perch = usePerch();
const create = "POST /v1/providers";
const body = {
  name: "acme",
  type: "openai-compatible",
  base_url: "https://models.example/v1",
  api_key: providerSecret,
} as const;

describe(create, () => {
  test("201 with the provider, and never its key", async () => {
    verifies("models.providers", "models.secret-never-shown");
    const { call } = await perch().createOrganisation();
    const answer = ok(await call(create, { body }));
    expect(answer.data).toMatchObject({
      name: "acme",
      type: body.type,
      base_url: body.base_url,
      models: [],
      api_key_set: true,
    });
    const read = ok(await call("GET /v1/providers/{provider_name}", { params: { provider_name: "acme" } }));
    const listed = ok(await call("GET /v1/providers", { query: {} }));
    for (const shown of [answer, read, listed]) expect(JSON.stringify(shown)).not.toContain(providerSecret.slice(3));
  });

  test("the key is sealed, differently each time, and bound to its row", async () => {
    verifies("models.secret-never-shown");
    const organisations = [await perch().createOrganisation(), await perch().createOrganisation()];
    for (const organisation of organisations) await createModelProvider(organisation, body.base_url);
    const sealed = await withClient(perch().database.adminUrl, async (admin) => {
      const { rows } = await admin.query<{ sealed: Buffer }>("select sealed_api_key as sealed from model_providers");
      return rows.map((row) => row.sealed);
    });
    expect(sealed.length).toBeGreaterThanOrEqual(2);
    expect(new Set(sealed.map((one) => one.toString("hex"))).size).toBe(sealed.length);
    for (const one of sealed) expect(one.toString("latin1")).not.toContain(providerSecret.slice(3, 12));
  });

  test("an API key that refers to a secret is stored and shown as its name, whether or not the secret exists", async () => {
    verifies("secrets.references-stored");
    const { call } = await perch().createOrganisation();
    const { data } = ok(await call(create, { body: { ...body, api_key: "{{secret.openai_key}}" } }));
    expect(data).toMatchObject({ api_key_set: true, api_key_secret: "openai_key" });
    const { rows } = await withClient(perch().database.adminUrl, (admin) =>
      admin.query("select sealed_api_key as sealed from model_providers where api_key_secret = 'openai_key'"),
    );
    expect(rows).toEqual([{ sealed: null }]);
    const own = ok(await call(create, { body: { ...body, name: "own" } })).data;
    expect(own).toMatchObject({ api_key_set: true, api_key_secret: null });
  });

  test("the well-known providers need no address, and a self-hosted model server needs no key", async () => {
    const { call } = await perch().createOrganisation();
    const openai = ok(await call(create, { body: { name: "openai", type: "openai", api_key: "sk-1" } })).data;
    expect(openai).toMatchObject({ base_url: null, api_key_set: true });
    const own = ok(
      await call(create, { body: { name: "own", type: "openai-compatible", base_url: "http://gpu.example" } }),
    );
    expect(own.data.api_key_set).toBe(false);
  });

  test.each([
    ["base_url", { ...body, base_url: null }],
    ["base_url", { ...body, base_url: "ftp://models.example" }],
    ["name", { ...body, name: "perch" }],
    ["name", { ...body, name: "Acme" }],
    ["api_key", { ...body, api_key: "two words" }],
    ["api_key", { ...body, api_key: "Bearer-{{secret.openai_key}}" }],
    ["api_key", { ...body, api_key: "{{secret.one}}{{secret.two}}" }],
    ["api_key", { ...body, api_key: "{{secret.Upper}}" }],
    ["api_key", { ...body, api_key: "{{env.OPENAI_API_KEY}}" }],
    ["type", { ...body, type: "acme" }],
    ["models.0", { ...body, models: ["a b"] }],
  ])("400 names %s", async (field, wrong) => {
    const { call } = await perch().createOrganisation();
    const { details } = expectError(await call(create, { body: wrong as typeof body }), "invalid_request");
    expect(details?.map((detail) => detail.field)).toContain(field);
  });

  test("409 for a name that is taken in the same organisation, not in another", async () => {
    const [mine, theirs] = [await perch().createOrganisation(), await perch().createOrganisation()];
    await createModelProvider(theirs, body.base_url);
    await createModelProvider(mine, body.base_url);
    expect(expectError(await mine.call(create, { body }), "conflict").message).toContain('"acme"');
  });

  test("409 for more than fifty providers", async () => {
    const organisation = await perch().createOrganisation();
    for (let i = 0; i < 50; i++) await createModelProvider(organisation, body.base_url, { name: `p${i}` });
    expect(expectError(await organisation.call(create, { body }), "conflict").message).toContain("50");
  });

  test("403 for a key that belongs to one agent, also to read", async () => {
    const organisation = await perch().createOrganisation();
    const { call, createKey } = organisation;
    ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    await createModelProvider(organisation, body.base_url);
    const bound = await createKey({ role: "admin", agent_id: "bot" });
    const params = { provider_name: "acme" };
    expectError(await call(create, { body: { ...body, name: "other" } }, bound), "forbidden");
    expectError(await call("GET /v1/providers", { query: {} }, bound), "forbidden");
    expectError(await call("GET /v1/providers/{provider_name}", { params }, bound), "forbidden");
    expectError(await call("PATCH /v1/providers/{provider_name}", { params, body: {} }, bound), "forbidden");
    expectError(await call("DELETE /v1/providers/{provider_name}", { params }, bound), "forbidden");
  });
});
