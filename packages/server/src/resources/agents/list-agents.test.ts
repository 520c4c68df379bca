import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";

const perch = usePerch();

async function createOrganisationWithAgents(names: readonly string[]): Promise<Organisation> {
  const organisation = await perch().createOrganisation();
  for (const name of names) ok(await organisation.call("POST /v1/agents", { body: { name, model: "perch/echo" } }));
  return organisation;
}

const namesOf = ({ data }: { data: { name: string }[] }) => data.map(({ name }) => name);

describe("GET /v1/agents", () => {
  test("an item carries id, name, status and created_at, and nothing else", async () => {
    verifies("operations.list-agents", "agent.list-item-fields", "responses.list-envelope", "pagination.fields");
    const { call } = await createOrganisationWithAgents(["only"]);
    const body = ok(await call("GET /v1/agents", { query: {} }));
    expect(Object.keys(body).sort()).toEqual(["data", "pagination"]);
    expect(body.data.map((item) => Object.keys(item).sort())).toEqual([["created_at", "id", "name", "status"]]);
    expect(body.pagination).toEqual({ limit: 10, offset: 0, total: 1, has_more: false });
  });

  test("pages of 10 by default, with the exact total and whether there is more", async () => {
    verifies("pagination.default-limit", "pagination.offset", "pagination.total-and-has-more", "sort.default");
    const names = Array.from({ length: 12 }, (_, i) => `agent-${String(i).padStart(2, "0")}`);
    const { call } = await createOrganisationWithAgents(names);
    const first = ok(await call("GET /v1/agents", { query: {} }));
    expect(first.pagination).toEqual({ limit: 10, offset: 0, total: 12, has_more: true });
    const second = ok(await call("GET /v1/agents", { query: { offset: 10 } }));
    expect(second.pagination).toEqual({ limit: 10, offset: 10, total: 12, has_more: false });
    expect([...namesOf(first), ...namesOf(second)]).toEqual(names.toReversed());
    expect(ok(await call("GET /v1/agents", { query: { offset: 99 } })).pagination).toMatchObject({
      total: 12,
      has_more: false,
    });
  });

  test("sorts by a field, descending with a minus", async () => {
    verifies("sort.ascending", "sort.descending-prefix", "sort.allowed-fields");
    const { call } = await createOrganisationWithAgents(["b", "c", "a"]);
    ok(await call("PATCH /v1/agents/{agent_id}", { params: { agent_id: "c" }, body: { temperature: 1 } }));
    const sorted = async (sort: never) => namesOf(ok(await call("GET /v1/agents", { query: { sort } }))).join("");
    expect(await sorted("name" as never)).toBe("abc");
    expect(await sorted("-name" as never)).toBe("cba");
    expect(await sorted("created_at" as never)).toBe("bca");
    expect(await sorted("-created_at" as never)).toBe("acb");
    expect(await sorted("updated_at" as never)).toBe("bac");
    expect(expectError(await call("GET /v1/agents", { query: { sort: "model" as never } })).status).toBe(400);
  });

  test.each([
    { limit: 0 },
    { limit: 101 },
    { limit: "ten" },
    { limit: "" },
    { limit: "1e1" },
    { limit: "0x10" },
    { offset: -1 },
    { offset: 1.5 },
    { page: 2 },
  ])("400 for %j", async (query) => {
    verifies("pagination.max-limit", "pagination.out-of-range-refused", "errors.unknown-query-parameter");
    const { call } = await perch().createOrganisation();
    const error = expectError(await call("GET /v1/agents", { query: query as never }));
    expect(error).toMatchObject({ status: 400, code: "invalid_request" });
    expect(error.details?.map(({ field }) => field)).toEqual(Object.keys(query));
  });

  test("a limit of 100 is allowed", async () => {
    verifies("pagination.max-limit");
    const { call } = await createOrganisationWithAgents(["a"]);
    expect(ok(await call("GET /v1/agents", { query: { limit: 100 } })).pagination.limit).toBe(100);
  });

  test("the total follows creates and deletes exactly, also when many happen at once", async () => {
    const names = Array.from({ length: 20 }, (_, i) => `n${i}`);
    const { call } = await perch().createOrganisation();
    await Promise.all(names.map((name) => call("POST /v1/agents", { body: { name, model: "perch/echo" } })));
    await Promise.all(
      names
        .slice(0, 8)
        .flatMap((name) => [1, 2].map(() => call("DELETE /v1/agents/{agent_id}", { params: { agent_id: name } }))),
    );
    const { data, pagination } = ok(await call("GET /v1/agents", { query: { limit: 100 } }));
    expect(pagination.total).toBe(12);
    expect(data).toHaveLength(12);
  });

  test("a key that belongs to one agent lists that one", async () => {
    const { call, createKey } = await createOrganisationWithAgents(["mine", "other"]);
    const bound = await createKey({ role: "viewer", agent_id: "mine" });
    const { data, pagination } = ok(await call("GET /v1/agents", { query: {} }, bound));
    expect(namesOf({ data })).toEqual(["mine"]);
    expect(pagination.total).toBe(1);
  });
});
