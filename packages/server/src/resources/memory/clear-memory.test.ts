import { verifies } from "@perch/testkit/verifies.ts";
import { sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { type Organisation, startApi, usePerch } from "../../../test/support/harness.ts";
import { invokeAgent } from "../../../test/support/invoke-calls.ts";
import { addMemory, createAgentWithMemory, searchMemoryContents } from "../../../test/support/memory-calls.ts";
import { newUuid, parsePublicId } from "../../platform/ids.ts";
import { createLogger } from "../../platform/logger.ts";
import { shutDown } from "../../platform/shutdown.ts";
import { createEmbedMemories } from "./embed-memories.ts";
import { updateEmbeddings } from "./embedding-queries.ts";

const perch = usePerch({}, { withWorker: true });
let org: Organisation;
beforeAll(async () => {
  org = await perch().createOrganisation();
});

const clear = async (agent_id: string, query: Record<string, string> = {}) => {
  const answer = await org.call("DELETE /v1/agents/{agent_id}/memory", { params: { agent_id }, query });
  expect(answer.status).toBe(200);
  return ok(answer).data;
};
const invoke = async (agent: string, message: string, context: object) => {
  const { status, data } = await invokeAgent(perch(), org.adminKey, { message, context }, { agent });
  expect(status).toBe(200);
  return data.response;
};
const organisationId = () => parsePublicId("organisation", org.id) ?? org.id;

describe("DELETE /v1/agents/{agent_id}/memory", () => {
  test("deletes everything of the agent, reports how much, and does not change other agents", async () => {
    verifies("operations.clear-memory", "responses.clear-memory");
    await createAgentWithMemory(org, { remember: true }, "all");
    await createAgentWithMemory(org, {}, "other");
    await addMemory(org, "stays", "other");
    for (let n = 0; n < 3; n++) await addMemory(org, { content: `said ${n}`, user_id: `u${n}` }, "all");
    await invoke("all", "hello", { session_id: "s" });
    const cleared = await clear("all");
    expect(cleared).toEqual({
      id: expect.stringMatching(/^clr_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
      status: "completed",
      memories_deleted: 4,
      messages_deleted: 2,
      user_id: null,
      session_id: null,
      before: null,
      created_at: expect.stringMatching(/Z$/),
      completed_at: expect.stringMatching(/Z$/),
    });
    expect(await searchMemoryContents(org, "said", "all")).toEqual([]);
    expect(await searchMemoryContents(org, "stays", "other")).toEqual(["stays"]);
    expect(await clear("all")).toMatchObject({ memories_deleted: 0, messages_deleted: 0 });
    const read = await org.call("GET /v1/agents/{agent_id}/memory/clears/{clear_id}", {
      params: { agent_id: "all", clear_id: cleared.id },
    });
    expect(ok(read).data).toEqual(cleared);
  });

  test("filters by user, session and time", async () => {
    await createAgentWithMemory(org, { remember: true }, "some");
    const listRemaining = async () =>
      (await searchMemoryContents(org, { query: "word", mode: "text", limit: 100 }, "some")).toSorted();
    await addMemory(org, { content: "word ada 1", user_id: "ada", session_id: "s1" }, "some");
    await addMemory(org, { content: "word ada 2", user_id: "ada", session_id: "s2" }, "some");
    await addMemory(org, { content: "word bob 1", user_id: "bob", session_id: "s1" }, "some");
    const late = await addMemory(org, { content: "word all" }, "some");
    expect(await clear("some", { user_id: "ada", session_id: "s2" })).toMatchObject({
      memories_deleted: 1,
      user_id: "ada",
      session_id: "s2",
    });
    expect(await listRemaining()).toEqual(["word ada 1", "word all", "word bob 1"]);
    expect(await clear("some", { before: late.updated_at })).toMatchObject({
      memories_deleted: 2,
      before: late.updated_at,
    });
    expect(await listRemaining()).toEqual(["word all"]);
    await invoke("some", "hi", { user_id: "ada", session_id: "x" });
    await invoke("some", "hi", { user_id: "bob", session_id: "y" });
    expect(await clear("some", { user_id: "ada" })).toMatchObject({ memories_deleted: 1, messages_deleted: 2 });
    expect(await clear("some", { session_id: "y" })).toMatchObject({ memories_deleted: 1, messages_deleted: 2 });
    expect(await listRemaining()).toEqual(["word all"]);
  });

  test("clears the messages of a session, which then starts empty", async () => {
    await createAgentWithMemory(org, {}, "talker");
    const context = { session_id: "s", user_id: "ada" };
    await invoke("talker", "one", context);
    await invoke("talker", "two", context);
    await clear("talker", { user_id: "ada" });
    await invoke("talker", "three", context);
    const { rows } = await perch().server.core.db.inOrganisation(organisationId(), (trx) =>
      sql<{
        turn: number;
        content: string;
      }>`select turn, content from session_messages where session_id = 's' and role = 'user'
        and agent_id = (select id from agents where name = 'talker')`.execute(trx),
    );
    expect(rows).toEqual([{ turn: 1, content: "three" }]);
  });

  test("with concurrent writers, nothing written before survives and nothing written after is lost", async () => {
    await createAgentWithMemory(org, { remember: true }, "busy");
    const polling = { timeout: 20_000, interval: 20 };
    const acknowledged: { readonly content: string; readonly at: number }[] = [];
    const started: { readonly content: string; readonly at: number }[] = [];
    let stop = false;
    const writer = async (name: string) => {
      for (let n = 0; !stop; n++) {
        const content = `${name} ${n}`;
        started.push({ content, at: performance.now() });
        await addMemory(org, { content, user_id: name }, "busy");
        acknowledged.push({ content, at: performance.now() });
      }
    };
    const runner = async (name: string) => {
      for (let n = 0; !stop; n++) {
        const message = `${name} ${n}`;
        started.push({ content: message, at: performance.now() });
        await invoke("busy", message, { session_id: name, user_id: name });
        acknowledged.push({ content: message, at: performance.now() });
      }
    };
    const working = Promise.all([writer("w1"), writer("w2"), writer("w3"), runner("r1"), runner("r2")]);
    const clears: { readonly from: number; readonly to: number }[] = [];
    for (let n = 0; n < 4; n++) {
      const writtenBefore = acknowledged.length;
      await expect.poll(() => acknowledged.length - writtenBefore, polling).toBeGreaterThan(10);
      const from = performance.now();
      await clear("busy");
      clears.push({ from, to: performance.now() });
    }
    const startedBefore = started.length;
    await expect.poll(() => started.length - startedBefore, polling).toBeGreaterThan(20);
    stop = true;
    await working;
    const last = clears.at(-1);
    if (!last) throw new Error("nothing was cleared");
    const { rows } = await perch().server.core.db.inOrganisation(organisationId(), (trx) =>
      sql<{
        content: string;
      }>`select content from memories where agent_id = (select id from agents where name = 'busy')`.execute(trx),
    );
    const remaining = new Set(rows.map(({ content }) => /^User: (.*)$/m.exec(content)?.[1] ?? content));
    const before = acknowledged.filter(({ at }) => at < last.from).map(({ content }) => content);
    const after = started.filter(({ at }) => at > last.to).map(({ content }) => content);
    console.log(`clear under writes: ${before.length} written before the last clear, ${after.length} begun after it`);
    expect(before.length).toBeGreaterThan(20);
    expect(after.length).toBeGreaterThan(5);
    expect(before.filter((content) => remaining.has(content))).toEqual([]);
    expect(after.filter((content) => !remaining.has(content))).toEqual([]);
  }, 60_000);

  test("the embedder does not wait for what a clear deletes, and embeds the rest", async () => {
    const { id: agentId } = await createAgentWithMemory(org, {}, "embedded");
    const agent = { organisationId: organisationId(), agentId: parsePublicId("agent", agentId) ?? "" };
    const add = async (content: string) =>
      parsePublicId("memory", (await addMemory(org, content, "embedded")).id) ?? "";
    const [deletedId, keptId] = [await add("one"), await add("two")];
    const { db } = perch().server.core;
    await db.inOrganisation(agent.organisationId, async (clearing) => {
      await sql`delete from memories where agent_id = ${agent.agentId} and id = ${deletedId}`.execute(clearing);
      await db.inOrganisation(agent.organisationId, (trx) =>
        updateEmbeddings(
          trx,
          agent,
          { embedder: "another", dimensions: 3 },
          [deletedId, keptId].map((id) => ({ id, embedding: "[1,1,1]" })),
        ),
      );
    });
    const { rows } = await db.inOrganisation(agent.organisationId, (trx) =>
      sql`select id, embedder from memories where agent_id = ${agent.agentId}`.execute(trx),
    );
    expect(rows).toEqual([{ id: keptId, embedder: "another" }]);
  });

  test("the embedder comes back later for what a clear holds, and does not embed it again and again", async () => {
    const { id } = await createAgentWithMemory(org, {}, "held");
    const agent = { organisationId: organisationId(), agentId: parsePublicId("agent", id) ?? "" };
    await addMemory(org, "held", "held");
    const { db, memory, logger } = perch().server.core;
    const embedMemories = createEmbedMemories({ db, findEmbedder: memory.findEmbedder, logger, now: Date.now });
    const ofAgent = sql`agent_id = ${agent.agentId}`;
    await db.inOrganisation(agent.organisationId, (trx) =>
      sql`update memories set embedder = null, dimensions = null, embedding = null where ${ofAgent}`.execute(trx),
    );
    await db.inOrganisation(agent.organisationId, async (clearing) => {
      await sql`select from memories where ${ofAgent} for update`.execute(clearing);
      expect(await embedMemories(agent, 0)).toEqual({ againAfterMs: 1000 });
    });
    expect(await embedMemories(agent, 0)).toEqual({ againAfterMs: null });
  });

  test("a large clear hides everything at once, continues in the background and reports its progress", async () => {
    verifies("responses.clear-memory");
    const large = `large-${newUuid()}`;
    const agent = await createAgentWithMemory(org, {}, large);
    const agentId = parsePublicId("agent", agent.id) ?? "";
    await perch().server.core.db.inOrganisation(organisationId(), (trx) =>
      sql`insert into memories (organisation_id, agent_id, id, owner, content, metadata)
            select ${organisationId()}, ${agentId}, gen_random_uuid(), '=u' || n % 10, 'row ' || n, '{}' from generate_series(1, 20000) n`.execute(
        trx,
      ),
    );
    // The node's clock jumps ahead during the clear, so its time is up after one batch.
    let clockOffsetMs = 0;
    const fastClockApi = await startApi(
      perch().server.core.config,
      createLogger("silent"),
      () => Date.now() + clockOffsetMs,
    );
    const url = await fastClockApi.app.listen({ host: "127.0.0.1", port: 0 });
    const headers = { authorization: `Bearer ${org.adminKey}` };
    expect((await fetch(`${url}/v1/agents/${large}`, { headers })).status).toBe(200);
    const advanceClock = setInterval(() => {
      clockOffsetMs += 2000;
    }, 1);
    const response = await fetch(`${url}/v1/agents/${large}/memory`, { method: "DELETE", headers });
    clearInterval(advanceClock);
    const { data } = (await response.json()) as { data: { id: string; status: string } };
    expect([response.status, data.status]).toEqual([202, "running"]);
    expect(response.headers.get("location")).toBe(`/v1/agents/${agent.id}/memory/clears/${data.id}`);
    const newer = await addMemory(org, "row after", large);
    expect(await searchMemoryContents(org, { query: "row", mode: "text" }, large)).toEqual(["row after"]);
    const listed = await org.call("GET /v1/agents/{agent_id}/memory", { params: { agent_id: large }, query: {} });
    expect(ok(listed).data.map(({ id }) => id)).toEqual([newer.id]);
    await expect
      .poll(
        async () =>
          ok(
            await org.call("GET /v1/agents/{agent_id}/memory/clears/{clear_id}", {
              params: { agent_id: large, clear_id: data.id },
            }),
          ).data,
        { timeout: 30_000, interval: 200 },
      )
      .toMatchObject({ status: "completed", memories_deleted: 20_000 });
    const status = await org.call("GET /v1/agents/{agent_id}/memory/status", { params: { agent_id: large } });
    expect(ok(status).data).toMatchObject({ memories: 1, clearing: false });
    await shutDown(fastClockApi.shutdownSteps, createLogger("silent"));
  }, 60_000);

  test("content added again while a clear is running is a new memory", async () => {
    const agent = await createAgentWithMemory(org, {}, "again");
    const first = await addMemory(org, "the same words", "again");
    const key = { organisationId: organisationId(), agentId: parsePublicId("agent", agent.id) ?? "" };
    await perch().server.core.db.inOrganisation(key.organisationId, (trx) =>
      sql`select * from begin_clear(${key.organisationId}, ${key.agentId}, gen_random_uuid(), null, null, null)`.execute(
        trx,
      ),
    );
    expect(await searchMemoryContents(org, "the same words", "again")).toEqual([]);
    const second = await addMemory(org, "the same words", "again");
    expect(second.id).not.toBe(first.id);
    expect(await searchMemoryContents(org, "the same words", "again")).toEqual(["the same words"]);
  });

  test("deleting an agent clears its memory, and a new agent of that name has none", async () => {
    const agent = await createAgentWithMemory(org, { remember: true }, "mortal");
    await addMemory(org, "a secret", "mortal");
    await invoke("mortal", "hello", { session_id: "s" });
    ok(await org.call("DELETE /v1/agents/{agent_id}", { params: { agent_id: "mortal" } }));
    const countRemaining = () =>
      perch().server.core.db.inOrganisation(organisationId(), async (trx) => {
        const { rows } = await sql<{
          left: string;
        }>`select (select count(*) from memories where agent_id = ${parsePublicId("agent", agent.id)})
            + (select count(*) from session_messages where agent_id = ${parsePublicId("agent", agent.id)}) as left`.execute(
          trx,
        );
        return Number(rows[0]?.left);
      });
    await expect.poll(countRemaining, { timeout: 15_000 }).toBe(0);
    await createAgentWithMemory(org, {}, "mortal");
    expect(await searchMemoryContents(org, "a secret", "mortal")).toEqual([]);
  });

  test("needs delete; unknown parameters and times are refused; unknown clears are 404", async () => {
    verifies("permissions.memory");
    await createAgentWithMemory(org, {}, "guarded");
    const key = await org.createKey({ permissions: ["read", "write"] });
    const params = { agent_id: "guarded" };
    expect((await org.call("DELETE /v1/agents/{agent_id}/memory", { params, query: {} }, key)).status).toBe(403);
    for (const query of [{ before: "yesterday" }, { usr_id: "x" }, { user_id: "" }])
      expectError(
        await org.call("DELETE /v1/agents/{agent_id}/memory", { params, query: query as object }),
        "invalid_request",
      );
    for (const clear_id of ["clr_01h455vb4pex5vsknk084sn02q", "x"])
      expectError(
        await org.call("GET /v1/agents/{agent_id}/memory/clears/{clear_id}", { params: { ...params, clear_id } }),
        "not_found",
      );
  });
});
