import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { createModelProvider } from "../../../test/support/create-model-provider.ts";
import { usePerch } from "../../../test/support/harness.ts";

const perch = usePerch();
const url = "https://models.example/v1";

describe("GET /v1/providers", () => {
  test("200 with the organisation's own, paged and sorted", async () => {
    const [mine, theirs] = [await perch().createOrganisation(), await perch().createOrganisation()];
    for (const name of ["b", "c", "a"]) await createModelProvider(mine, url, { name });
    await createModelProvider(theirs, url, { name: "theirs" });
    const namesOf = async (query: object) =>
      ok(await mine.call("GET /v1/providers", { query })).data.map(({ name }) => name);
    expect(await namesOf({})).toEqual(["a", "c", "b"]);
    expect(await namesOf({ sort: "name" })).toEqual(["a", "b", "c"]);
    const page = ok(await mine.call("GET /v1/providers", { query: { sort: "name", limit: 1, offset: 1 } }));
    expect(page.data.map(({ name }) => name)).toEqual(["b"]);
    expect(page.pagination).toEqual({ limit: 1, offset: 1, total: 3, has_more: true });
  });
});

describe("GET /v1/providers/{provider_name}", () => {
  test("200, and 404 for another organisation's", async () => {
    const [mine, theirs] = [await perch().createOrganisation(), await perch().createOrganisation()];
    const created = await createModelProvider(mine, url);
    const params = { provider_name: "acme" };
    expect(ok(await mine.call("GET /v1/providers/{provider_name}", { params })).data).toEqual(created);
    expectError(await theirs.call("GET /v1/providers/{provider_name}", { params }), "not_found");
  });
});

describe("DELETE /v1/providers/{provider_name}", () => {
  test("200 once, then 404; never another organisation's", async () => {
    const [mine, theirs] = [await perch().createOrganisation(), await perch().createOrganisation()];
    await createModelProvider(mine, url);
    const params = { provider_name: "acme" };
    expectError(await theirs.call("DELETE /v1/providers/{provider_name}", { params }), "not_found");
    expect(ok(await mine.call("DELETE /v1/providers/{provider_name}", { params })).data).toEqual({
      name: "acme",
      deleted: true,
    });
    expectError(await mine.call("DELETE /v1/providers/{provider_name}", { params }), "not_found");
  });
});
