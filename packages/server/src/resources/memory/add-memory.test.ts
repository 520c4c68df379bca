import { verifies } from "@perch/testkit/verifies.ts";
import { sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import {
  addMemory,
  createAgentWithMemory,
  searchMemory,
  searchMemoryContents,
} from "../../../test/support/memory-calls.ts";
import { newUuid, parsePublicId } from "../../platform/ids.ts";
import { insertMemories } from "./memory-queries.ts";

const perch = usePerch();
let org: Organisation;
beforeAll(async () => {
  org = await perch().createOrganisation();
});

const stored = async (agent_id = "bot") =>
  (await org.call("GET /v1/agents/{agent_id}/memory/status", { params: { agent_id } })).body as {
    data: { memories: number };
  };

describe("POST /v1/agents/{agent_id}/memory", () => {
  test("stores the memory, which can be found at once", async () => {
    verifies("memory.result-fields");
    await createAgentWithMemory(org);
    const memory = await addMemory(org, {
      content: "  Ada drinks tea. ",
      user_id: "ada",
      session_id: "s",
      metadata: { n: 1 },
    });
    expect(memory).toMatchObject({
      content: "Ada drinks tea.",
      user_id: "ada",
      session_id: "s",
      source_request_id: null,
      metadata: { n: 1 },
    });
    expect(memory.created_at).toBe(memory.updated_at);
    const { data } = await searchMemory(org, { query: "favourite beverages", mode: "vector" });
    expect(data.map(({ id }) => id)).toEqual([memory.id]);
  });

  test("the same content of one user is stored once and becomes the newest; of two users it is stored twice", async () => {
    await createAgentWithMemory(org, {}, "twice");
    const first = await addMemory(org, { content: "It rains.", user_id: "a", metadata: { n: 1 } }, "twice");
    await addMemory(org, { content: "It snows.", user_id: "a" }, "twice");
    const again = await addMemory(org, { content: "It rains.", user_id: "a", metadata: { n: 2 } }, "twice");
    expect(again).toMatchObject({ id: first.id, created_at: first.created_at, metadata: { n: 2 } });
    expect(again.updated_at >= first.updated_at).toBe(true);
    await addMemory(org, { content: "It rains.", user_id: "b" }, "twice");
    await addMemory(org, { content: "It rains." }, "twice");
    expect((await stored("twice")).data.memories).toBe(4);
    const listed = await org.call("GET /v1/agents/{agent_id}/memory", {
      params: { agent_id: "twice" },
      query: { user_id: "a" },
    });
    expect((listed.body as { data: { content: string }[] }).data.map(({ content }) => content)).toEqual([
      "It rains.",
      "It snows.",
    ]);
  });

  test("beyond the agent's limit the oldest are deleted, also with concurrent writers", async () => {
    const agent = await createAgentWithMemory(org, {}, "bounded");
    const agentKey = {
      organisationId: parsePublicId("organisation", org.id) ?? org.id,
      agentId: parsePublicId("agent", agent.id) ?? "",
    };
    const { db } = perch().server.core;
    const insertMemory = (content: string) =>
      db.inOrganisation(agentKey.organisationId, (trx) =>
        insertMemories(
          trx,
          agentKey,
          [{ id: newUuid(), owner: "", session_id: null, source_id: null, content, metadata: {} }],
          { free: 5, pro: 5, enterprise: 5, max_evicted: 1000 },
        ),
      );
    for (let n = 1; n <= 8; n++) await insertMemory(`fact ${n}`);
    await insertMemory("fact 4");
    await insertMemory("fact 9");
    expect((await searchMemoryContents(org, { query: "fact", mode: "text" }, "bounded")).toSorted()).toEqual([
      "fact 4",
      "fact 6",
      "fact 7",
      "fact 8",
      "fact 9",
    ]);
    await Promise.all(Array.from({ length: 40 }, (_, n) => insertMemory(`crowd ${n}`)));
    await insertMemory("the last");
    const { rows } = await db.inOrganisation(agentKey.organisationId, (trx) =>
      sql<{ content: string }>`select content from memories where agent_id = ${agentKey.agentId}`.execute(trx),
    );
    expect(rows).toHaveLength(5);
    expect((await stored("bounded")).data.memories).toBe(5);
  });

  test.each([
    [{ content: "" }, "content"],
    [{ content: "   " }, "content"],
    [{ content: "x".repeat(8193) }, "content"],
    [{ content: "x", user_id: "" }, "user_id"],
    [{ content: "x", metadata: { a: "y".repeat(5000) } }, "metadata"],
    [{ content: "x", agent: "y" }, "agent"],
  ])("refuses %j and names the field", async (body, field) => {
    const answer = await org.call("POST /v1/agents/{agent_id}/memory", {
      params: { agent_id: "bot" },
      body: body as { content: string },
    });
    expect(expectError(answer, "invalid_request").details?.map((detail) => detail.field)).toEqual([field]);
  });
});

describe("GET /v1/agents/{agent_id}/memory", () => {
  test("pages through, newest first", async () => {
    await createAgentWithMemory(org, {}, "listed");
    for (let n = 1; n <= 5; n++) await addMemory(org, `page ${n}`, "listed");
    const list = async (query: object) => {
      const { body } = await org.call("GET /v1/agents/{agent_id}/memory", { params: { agent_id: "listed" }, query });
      if (!("pagination" in body)) throw new Error("refused");
      return { contents: body.data.map(({ content }) => content), pagination: body.pagination };
    };
    expect(await list({ limit: 2 })).toEqual({
      contents: ["page 5", "page 4"],
      pagination: { limit: 2, offset: 0, total: 5, has_more: true, total_relation: "eq" },
    });
    expect(await list({ limit: 2, offset: 4 })).toEqual({
      contents: ["page 1"],
      pagination: { limit: 2, offset: 4, total: 5, has_more: false, total_relation: "eq" },
    });
  });
});

describe("GET and DELETE /v1/agents/{agent_id}/memory/{memory_id}", () => {
  test("one memory can be read and deleted; then it is 404 and no longer found", async () => {
    await createAgentWithMemory(org, {}, "single");
    const memory = await addMemory(org, "Only once.", "single");
    const one = { params: { agent_id: "single", memory_id: memory.id } };
    const read = () => org.call("GET /v1/agents/{agent_id}/memory/{memory_id}", one);
    expect((await read()).body).toMatchObject({ data: memory });
    const deleted = await org.call("DELETE /v1/agents/{agent_id}/memory/{memory_id}", one);
    expect(deleted.body).toMatchObject({ data: { id: memory.id, deleted: true } });
    expectError(await read(), "not_found");
    expectError(await org.call("DELETE /v1/agents/{agent_id}/memory/{memory_id}", one), "not_found");
    expect(await searchMemoryContents(org, "Only once.", "single")).toEqual([]);
    expect((await stored("single")).data.memories).toBe(0);
  });

  test.each(["mem_01h455vb4pex5vsknk084sn02q", "nonsense", "status-of-it"])("%s is 404", async (memory_id) => {
    expectError(
      await org.call("GET /v1/agents/{agent_id}/memory/{memory_id}", { params: { agent_id: "bot", memory_id } }),
      "not_found",
    );
  });
});
