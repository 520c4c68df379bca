import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { createModelProvider } from "../../../test/support/create-model-provider.ts";
import { usePerch } from "../../../test/support/harness.ts";

const perch = usePerch();
const update = "PATCH /v1/providers/{provider_name}";
const params = { provider_name: "acme" };

async function createOrganisationWithProvider() {
  const organisation = await perch().createOrganisation();
  const before = await createModelProvider(organisation, "https://models.example/v1");
  return { ...organisation, before };
}

describe(update, () => {
  test("200 changes the given fields and keeps the rest", async () => {
    const { call, before } = await createOrganisationWithProvider();
    const { data } = ok(await call(update, { params, body: { models: ["small", "large"] } }));
    expect(data).toEqual({ ...before, models: ["small", "large"], updated_at: data.updated_at });
    expect(ok(await call(update, { params, body: { api_key: null } })).data.api_key_set).toBe(false);
  });

  test("400 for a new address without the key: a stored key cannot be sent elsewhere", async () => {
    const { call } = await createOrganisationWithProvider();
    const base_url = "https://elsewhere.example/v1";
    const { details } = expectError(await call(update, { params, body: { base_url } }), "invalid_request");
    expect(details?.map(({ field }) => field)).toEqual(["api_key"]);
    expect(ok(await call(update, { params, body: { base_url, api_key: "sk-2" } })).data).toMatchObject({
      base_url,
      api_key_set: true,
    });
    expect(
      ok(await call(update, { params, body: { base_url: "https://third.example", api_key: null } })).data,
    ).toMatchObject({
      api_key_set: false,
    });
  });

  test("a key becomes a reference and a reference a key, and one of them at most is stored", async () => {
    verifies("secrets.references-stored");
    const { call } = await createOrganisationWithProvider();
    const changeKey = async (api_key: string | null) => ok(await call(update, { params, body: { api_key } })).data;
    expect(await changeKey("{{secret.one}}")).toMatchObject({ api_key_set: true, api_key_secret: "one" });
    expect(await changeKey("{{secret.two}}")).toMatchObject({ api_key_set: true, api_key_secret: "two" });
    expect(await changeKey("sk-2")).toMatchObject({ api_key_set: true, api_key_secret: null });
    expect(await changeKey("{{secret.one}}")).toMatchObject({ api_key_set: true, api_key_secret: "one" });
    expect(await changeKey(null)).toMatchObject({ api_key_set: false, api_key_secret: null });
  });

  test("a new address needs no key if the key is a secret, which has its own hosts", async () => {
    verifies("secrets.references-stored");
    const { call } = await createOrganisationWithProvider();
    ok(await call(update, { params, body: { api_key: "{{secret.one}}" } }));
    const base_url = "https://elsewhere.example/v1";
    expect(ok(await call(update, { params, body: { base_url } })).data).toMatchObject({
      base_url,
      api_key_secret: "one",
    });
    expect(ok(await call(update, { params, body: { models: ["small"] } })).data.api_key_secret).toBe("one");
  });

  test("400 when a self-hosted model server would lose its address", async () => {
    const { call } = await createOrganisationWithProvider();
    expectError(await call(update, { params, body: { base_url: null, api_key: null } }), "invalid_request");
  });

  test("404 for another organisation's provider", async () => {
    await createOrganisationWithProvider();
    const { call } = await perch().createOrganisation();
    expectError(await call(update, { params, body: { models: [] } }), "not_found");
  });
});
