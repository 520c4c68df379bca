import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { maxOpenErasures } from "../../src/resources/erasures/erasure-rules.ts";
import { expectError, ok } from "../support/contract-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { addMemory, createAgentWithMemory } from "../support/memory-calls.ts";

const perch = usePerch({}, { withWorker: true });

const eraseRaw = (organisation: Organisation, encodedUser: string): Promise<Response> =>
  fetch(`${perch().url}/v1/users/${encodedUser}/data`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${organisation.adminKey}` },
  });

async function waitUntilErased({ call }: Organisation, erasure_id: string): Promise<void> {
  const read = async () => ok(await call("GET /v1/erasures/{erasure_id}", { params: { erasure_id } })).data.status;
  await expect.poll(read, { timeout: 30_000 }).toBe("completed");
}

const listContents = async ({ call }: Organisation): Promise<string[]> => {
  const listed = await call("GET /v1/agents/{agent_id}/memory", { params: { agent_id: "bot" }, query: { limit: 100 } });
  return ok(listed).data.map(({ content }) => content);
};

describe("DELETE /v1/users/{user_id}/data", () => {
  test("a developer, a viewer and a key of one agent are refused, and the audit log does not name the user", async () => {
    const organisation = await perch().createOrganisation();
    await createAgentWithMemory(organisation);
    await addMemory(organisation, { content: "stays", user_id: "victim" });
    const keys = [
      await organisation.createKey({ role: "developer" }),
      await organisation.createKey({ role: "viewer" }),
      await organisation.createKey({ role: "admin", agent_id: "bot" }),
    ];
    for (const key of keys) {
      const refused = await organisation.call(
        "DELETE /v1/users/{user_id}/data",
        { params: { user_id: "victim" } },
        key,
      );
      expect(expectError(refused).status).toBe(403);
      expect(expectError(await organisation.call("GET /v1/erasures", {}, key)).status).toBe(403);
    }
    expect(await listContents(organisation)).toEqual(["stays"]);
    const readLog = async () =>
      ok(await organisation.call("GET /v1/audit-log", { query: { operation: "eraseUser" } })).data;
    await expect.poll(async () => (await readLog()).length).toBe(3);
    expect(JSON.stringify(await readLog())).not.toContain("victim");
    expect((await readLog()).map(({ outcome, resource }) => [outcome, resource])).toEqual(
      Array.from({ length: 3 }, () => ["refused", null]),
    );
  });

  test("an id with wildcards, quotes, slashes or other letters matches only that user", async () => {
    verifies("erasure.user");
    const organisation = await perch().createOrganisation();
    await createAgentWithMemory(organisation);
    const odd = [
      "%",
      "_",
      "a%",
      "' or '1'='1",
      "a/b",
      "ünïcödé 🦜",
      "=x",
      "~",
      "..%2f",
      "\\",
      "x".repeat(256),
      "user?x=1#y",
    ];
    for (const user_id of [...odd, "bystander", "ab"])
      await addMemory(organisation, { content: `of ${user_id}`, user_id });
    await addMemory(organisation, "of everybody");
    const eraseOdd = async (user: string) => {
      const answer = await eraseRaw(organisation, encodeURIComponent(user));
      const text = await answer.text();
      expect(answer.status, text).toBe(202);
      const { data } = JSON.parse(text) as { data: { id: string; user_id: string } };
      expect(data.user_id).toBe(user);
      await waitUntilErased(organisation, data.id);
    };
    await Promise.all(odd.map(eraseOdd));
    expect((await listContents(organisation)).toSorted()).toEqual(["of ab", "of bystander", "of everybody"]);
  }, 120_000);

  test("an empty id, one that is too long, and one with a NUL are refused, and nothing is erased", async () => {
    const organisation = await perch().createOrganisation();
    for (const [encoded, status] of [
      ["", [400, 404]],
      ["x".repeat(257), [400, 404]],
      ["%00", [400]],
      ["%ff", [400]],
    ] as const)
      expect(status, encoded).toContain((await eraseRaw(organisation, encoded)).status);
    expect(ok(await organisation.call("GET /v1/erasures", {})).pagination.total).toBe(0);
  });

  test("an organisation has a bounded number of them under way, and others notice nothing", async () => {
    const organisation = await perch().createOrganisation();
    const other = await perch().createOrganisation();
    const eraseUser = (organisationOf: Organisation, n: number) =>
      organisationOf.call("DELETE /v1/users/{user_id}/data", { params: { user_id: `user-${n}` } });
    const answers = await Promise.all(
      Array.from({ length: maxOpenErasures * 3 }, (_, n) => eraseUser(organisation, n)),
    );
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(maxOpenErasures);
    for (const answer of answers.filter(({ status }) => status === 429))
      expect(expectError(answer)).toMatchObject({
        retry_after: 10,
        message: expect.stringContaining("GET /v1/erasures"),
      });
    const mine = await eraseUser(other, 1);
    expect(mine.status).toBe(202);
    await waitUntilErased(other, ok(mine).data.id);
  }, 60_000);
});
