import { sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import { verifies } from "../../../../spec/verifies.ts";
import { ok, refusal } from "../../test/contract-client.ts";
import { type Organisation, usePerch } from "../../test/harness.ts";
import { invokeAt } from "../../test/invoking.ts";
import { add, found, rememberer } from "../../test/remembering.ts";
import { parsePublicId } from "../platform/ids.ts";

const perch = usePerch({}, { runs: true });
let org: Organisation;
beforeAll(async () => {
  org = await perch().newOrganisation();
});

const clear = async (agent_id: string, query: Record<string, string> = {}) =>
  ok(await org.call("DELETE /v1/agents/{agent_id}/memory", { params: { agent_id }, query })).data;
const talk = async (agent: string, message: string, context: object) => {
  const { status, data } = await invokeAt(perch(), org.adminKey, { message, context }, { agent });
  expect(status).toBe(200);
  return data.response;
};
const organisationId = () => parsePublicId("organisation", org.id) ?? org.id;

describe("DELETE /v1/agents/{agent_id}/memory", () => {
  test("removes everything of the agent and says how much, and nothing of others", async () => {
    verifies("operations.clear-memory");
    verifies("responses.clear-memory");
    await rememberer(org, { remember: true }, "all");
    await rememberer(org, {}, "other");
    await add(org, "stays", "other");
    for (let n = 0; n < 3; n++) await add(org, { content: `said ${n}`, user_id: `u${n}` }, "all");
    await talk("all", "hello", { session_id: "s" });
    const cleared = await clear("all");
    expect(cleared).toMatchObject({ status: "completed", memories_deleted: 4, messages_deleted: 2 });
    expect(cleared).toMatchObject({ user_id: null, session_id: null, before: null });
    expect(await found(org, "said", "all")).toEqual([]);
    expect(await found(org, "stays", "other")).toEqual(["stays"]);
    expect(await clear("all")).toMatchObject({ memories_deleted: 0, messages_deleted: 0 });
    const read = await org.call("GET /v1/agents/{agent_id}/memory/clears/{clear_id}", {
      params: { agent_id: "all", clear_id: cleared.id },
    });
    expect(ok(read).data).toEqual(cleared);
  });

  test("by user, by session and by time: only that", async () => {
    await rememberer(org, { remember: true }, "some");
    const kept = async () => (await found(org, { query: "word", mode: "text", limit: 100 }, "some")).toSorted();
    await add(org, { content: "word ada 1", user_id: "ada", session_id: "s1" }, "some");
    await add(org, { content: "word ada 2", user_id: "ada", session_id: "s2" }, "some");
    await add(org, { content: "word bob 1", user_id: "bob", session_id: "s1" }, "some");
    const late = await add(org, { content: "word all" }, "some");
    expect(await clear("some", { user_id: "ada", session_id: "s2" })).toMatchObject({
      memories_deleted: 1,
      user_id: "ada",
      session_id: "s2",
    });
    expect(await kept()).toEqual(["word ada 1", "word all", "word bob 1"]);
    expect(await clear("some", { before: late.updated_at })).toMatchObject({
      memories_deleted: 2,
      before: late.updated_at,
    });
    expect(await kept()).toEqual(["word all"]);
    await talk("some", "hi", { user_id: "ada", session_id: "x" });
    await talk("some", "hi", { user_id: "bob", session_id: "y" });
    expect(await clear("some", { user_id: "ada" })).toMatchObject({ memories_deleted: 1, messages_deleted: 2 });
    expect(await clear("some", { session_id: "y" })).toMatchObject({ memories_deleted: 1, messages_deleted: 2 });
    expect(await kept()).toEqual(["word all"]);
  });

  test("what was said in a session is forgotten, and the session goes on from nothing", async () => {
    await rememberer(org, {}, "talker");
    const context = { session_id: "s", user_id: "ada" };
    await talk("talker", "one", context);
    await talk("talker", "two", context);
    await clear("talker", { user_id: "ada" });
    await talk("talker", "three", context);
    const { rows } = await perch().server.core.db.inOrganisation(organisationId(), (trx) =>
      sql<{
        turn: number;
        content: string;
      }>`select turn, content from session_messages where session_id = 's' and role = 'user'
        and agent_id = (select id from agents where name = 'talker')`.execute(trx),
    );
    expect(rows).toEqual([{ turn: 1, content: "three" }]);
  });

  test("while many are writing: nothing written before survives, nothing written after is lost", async () => {
    await rememberer(org, { remember: true }, "busy");
    const enough = { timeout: 20_000, interval: 20 };
    const acknowledged: { readonly content: string; readonly at: number }[] = [];
    const started: { readonly content: string; readonly at: number }[] = [];
    let stop = false;
    const writer = async (name: string) => {
      for (let n = 0; !stop; n++) {
        const content = `${name} ${n}`;
        started.push({ content, at: performance.now() });
        await add(org, { content, user_id: name }, "busy");
        acknowledged.push({ content, at: performance.now() });
      }
    };
    const runner = async (name: string) => {
      for (let n = 0; !stop; n++) {
        const message = `${name} ${n}`;
        started.push({ content: message, at: performance.now() });
        await talk("busy", message, { session_id: name, user_id: name });
        acknowledged.push({ content: message, at: performance.now() });
      }
    };
    const working = Promise.all([writer("w1"), writer("w2"), writer("w3"), runner("r1"), runner("r2")]);
    const clears: { readonly from: number; readonly to: number }[] = [];
    for (let n = 0; n < 4; n++) {
      const writtenBefore = acknowledged.length;
      await expect.poll(() => acknowledged.length - writtenBefore, enough).toBeGreaterThan(10);
      const from = performance.now();
      await clear("busy");
      clears.push({ from, to: performance.now() });
    }
    const begunBefore = started.length;
    await expect.poll(() => started.length - begunBefore, enough).toBeGreaterThan(20);
    stop = true;
    await working;
    const last = clears.at(-1);
    if (!last) throw new Error("nothing was cleared");
    const { rows } = await perch().server.core.db.inOrganisation(organisationId(), (trx) =>
      sql<{
        content: string;
      }>`select content from memories where agent_id = (select id from agents where name = 'busy')`.execute(trx),
    );
    const left = new Set(rows.map(({ content }) => /^User: (.*)$/m.exec(content)?.[1] ?? content));
    const before = acknowledged.filter(({ at }) => at < last.from).map(({ content }) => content);
    const after = started.filter(({ at }) => at > last.to).map(({ content }) => content);
    console.log(`clear under writes: ${before.length} written before the last clear, ${after.length} begun after it`);
    expect(before.length).toBeGreaterThan(20);
    expect(after.length).toBeGreaterThan(5);
    expect(before.filter((content) => left.has(content))).toEqual([]);
    expect(after.filter((content) => !left.has(content))).toEqual([]);
  }, 60_000);

  test("a large one is out of sight at once, goes on in the background and tells how far it is", async () => {
    const agent = await rememberer(org, {}, "large");
    const agentId = parsePublicId("agent", agent.id) ?? "";
    await perch().server.core.db.inOrganisation(organisationId(), (trx) =>
      sql`insert into memories (organisation_id, agent_id, id, owner, content, metadata)
            select ${organisationId()}, ${agentId}, gen_random_uuid(), '=u' || n % 10, 'row ' || n, '{}' from generate_series(1, 20000) n`.execute(
        trx,
      ),
    );
    const response = await fetch(`${perch().url}/v1/agents/large/memory`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${org.adminKey}` },
    });
    const { data } = (await response.json()) as { data: { id: string; status: string } };
    expect([200, 202]).toContain(response.status);
    const newer = await add(org, "row after", "large");
    expect(await found(org, { query: "row", mode: "text" }, "large")).toEqual(["row after"]);
    const listed = await org.call("GET /v1/agents/{agent_id}/memory", { params: { agent_id: "large" }, query: {} });
    expect(ok(listed).data.map(({ id }) => id)).toEqual([newer.id]);
    if (response.status === 202)
      expect(response.headers.get("location")).toBe(`/v1/agents/${agent.id}/memory/clears/${data.id}`);
    await expect
      .poll(
        async () =>
          ok(
            await org.call("GET /v1/agents/{agent_id}/memory/clears/{clear_id}", {
              params: { agent_id: "large", clear_id: data.id },
            }),
          ).data,
        { timeout: 30_000, interval: 200 },
      )
      .toMatchObject({ status: "completed", memories_deleted: 20_000 });
    const status = await org.call("GET /v1/agents/{agent_id}/memory/status", { params: { agent_id: "large" } });
    expect(ok(status).data).toMatchObject({ memories: 1, clearing: false });
  }, 60_000);

  test("what is said again while a clear is running is a new memory", async () => {
    const agent = await rememberer(org, {}, "again");
    const first = await add(org, "the same words", "again");
    const key = { organisationId: organisationId(), agentId: parsePublicId("agent", agent.id) ?? "" };
    await perch().server.core.db.inOrganisation(key.organisationId, (trx) =>
      sql`select * from begin_clear(${key.organisationId}, ${key.agentId}, gen_random_uuid(), null, null, null)`.execute(
        trx,
      ),
    );
    expect(await found(org, "the same words", "again")).toEqual([]);
    const second = await add(org, "the same words", "again");
    expect(second.id).not.toBe(first.id);
    expect(await found(org, "the same words", "again")).toEqual(["the same words"]);
  });

  test("deleting an agent clears it, and its name taken again remembers nothing", async () => {
    const agent = await rememberer(org, { remember: true }, "mortal");
    await add(org, "a secret", "mortal");
    await talk("mortal", "hello", { session_id: "s" });
    ok(await org.call("DELETE /v1/agents/{agent_id}", { params: { agent_id: "mortal" } }));
    const left = () =>
      perch().server.core.db.inOrganisation(organisationId(), async (trx) => {
        const { rows } = await sql<{
          left: string;
        }>`select (select count(*) from memories where agent_id = ${parsePublicId("agent", agent.id)})
            + (select count(*) from session_messages where agent_id = ${parsePublicId("agent", agent.id)}) as left`.execute(
          trx,
        );
        return Number(rows[0]?.left);
      });
    await expect.poll(left, { timeout: 15_000 }).toBe(0);
    await rememberer(org, {}, "mortal");
    expect(await found(org, "a secret", "mortal")).toEqual([]);
  });

  test("needs delete; unknown parameters and times are refused; unknown clears are 404", async () => {
    verifies("permissions.memory");
    await rememberer(org, {}, "guarded");
    const key = await org.newKey({ permissions: ["read", "write"] });
    const params = { agent_id: "guarded" };
    expect((await org.call("DELETE /v1/agents/{agent_id}/memory", { params, query: {} }, key)).status).toBe(403);
    for (const query of [{ before: "yesterday" }, { usr_id: "x" }, { user_id: "" }])
      refusal(
        await org.call("DELETE /v1/agents/{agent_id}/memory", { params, query: query as object }),
        "invalid_request",
      );
    for (const clear_id of ["clr_01h455vb4pex5vsknk084sn02q", "x"])
      refusal(
        await org.call("GET /v1/agents/{agent_id}/memory/clears/{clear_id}", { params: { ...params, clear_id } }),
        "not_found",
      );
  });
});
