import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import { createModelProvider } from "../../../test/support/create-model-provider.ts";
import { usePerch } from "../../../test/support/harness.ts";

const installed = {
  type: "openai-compatible" as const,
  baseUrl: "http://127.0.0.1:1/v1",
  apiKey: "sk-installed",
  models: [] as string[],
};
const perch = usePerch({
  providers: [
    { ...installed, name: "local", models: ["small"] },
    { ...installed, name: "acme" },
  ],
});
const list = "GET /v1/models";

describe(list, () => {
  test("200 with the built-in models, the server's and the organisation's own, which goes before the server's", async () => {
    verifies("models.list");
    const organisation = await perch().createOrganisation();
    const ids = async () =>
      ok(await organisation.call(list, { query: {} })).data.map(({ id, source }) => `${id} ${source}`);
    const builtIn = ["perch/echo built-in", "perch/script built-in"];
    expect(await ids()).toEqual([...builtIn, "local/small installation", "acme/* installation"]);
    await createModelProvider(organisation, "https://models.example", { name: "acme", models: ["a", "b"] });
    expect(await ids()).toEqual([...builtIn, "acme/a organisation", "acme/b organisation", "local/small installation"]);
  });

  test("is paged, contains no key, and may be read with a key that belongs to one agent", async () => {
    const { call, createKey } = await perch().createOrganisation();
    ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    const bound = await createKey({ role: "viewer", agent_id: "bot" });
    const page = ok(await call(list, { query: { limit: 2, offset: 1 } }, bound));
    expect(page.data.map(({ id }) => id)).toEqual(["perch/script", "local/small"]);
    expect(page.pagination).toEqual({ limit: 2, offset: 1, total: 4, has_more: true });
    expect(JSON.stringify(page)).not.toContain("sk-installed");
  });
});
