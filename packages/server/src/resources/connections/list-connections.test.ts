import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { insertConnection, somewhere } from "../../../test/support/stored-connections.ts";
import { newUuid, parsePublicId } from "../../platform/ids.ts";
import { maxReadConnections } from "./connection-queries.ts";

const perch = usePerch();
let organisation: Organisation;
/** Oldest first. */
let ofBot: readonly string[];
let ofOther: string;
const mail = { ...somewhere, name: "mail" };

beforeAll(async () => {
  organisation = await perch().createOrganisation();
  for (const name of ["bot", "other"])
    ok(await organisation.call("POST /v1/agents", { body: { name, model: "perch/echo" } }));
  const insert = (given: Parameters<typeof insertConnection>[2]) => insertConnection(perch(), organisation, given);
  ofBot = [
    await insert({ userId: "ada" }),
    await insert({ userId: "ada", tool: mail, status: "needs_reauth" }),
    await insert({ userId: "bob", status: "pending" }),
    await insert({ userId: "cem", status: "revoked" }),
  ];
  ofOther = await insert({ agent: "other", userId: "ada" });
});

const list = async (query: object = {}, agent_id = "bot", key?: string) =>
  ok(await organisation.call("GET /v1/agents/{agent_id}/connections", { params: { agent_id }, query }, key));
const idsOf = async (query: object = {}, agent = "bot", key?: string) =>
  (await list(query, agent, key)).data.map(({ id }) => id);

describe("GET /v1/agents/{agent_id}/connections", () => {
  test("newest first, in pages that follow each other, without a token", async () => {
    expect(await idsOf()).toEqual(ofBot.toReversed());
    const first = await list({ limit: 3 });
    expect(first.pagination).toMatchObject({ limit: 3, has_more: true });
    const second = await list({ limit: 3, cursor: first.pagination.next_cursor });
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(ofBot.toReversed());
    expect(second.pagination).toEqual({ limit: 3, has_more: false, next_cursor: null });
    expect(JSON.stringify(first)).not.toMatch(/access-|refresh-/);
  });

  test("400 for a cursor of something else", async () => {
    const params = { agent_id: "bot" };
    const answer = await organisation.call("GET /v1/agents/{agent_id}/connections", { params, query: { cursor: "x" } });
    expect(expectError(answer, "invalid_request").details).toMatchObject([{ field: "cursor" }]);
  });

  test("each filter selects its matches, only of this agent", async () => {
    const [first, second, third, fourth] = ofBot;
    expect(await idsOf({ user_id: "ada" })).toEqual([second, first]);
    expect(await idsOf({ user_id: "ada" }, "other")).toEqual([ofOther]);
    expect(await idsOf({ user_id: "ada", tool: "mail" })).toEqual([second]);
    expect(await idsOf({ tool: "book" })).toEqual([fourth, third, first]);
    expect(await idsOf({ status: "needs_reauth" })).toEqual([second]);
    expect(await idsOf({ status: "revoked" })).toEqual([fourth]);
    expect(await idsOf({ user_id: "no-such-user" })).toEqual([]);
  });

  test("`environment` keeps what its runs would use: tools, addresses and issuers of the live version, else of the draft", async () => {
    const connection = { account: "user" as const, return_urls: ["https://app.example/connected"] };
    const tool = (url: string, issuer?: string) => ({
      ...{ type: "http" as const, name: "book", description: "Books.", method: "GET" as const, url },
      parameters: { type: "object" },
      connection: { ...connection, ...(issuer && { issuer }) },
    });
    const setTools = async (...tools: object[]) =>
      ok(
        await organisation.call("PATCH /v1/agents/{agent_id}", {
          params: { agent_id: "moving" },
          body: { tools: tools as never },
        }),
      );
    ok(await organisation.call("POST /v1/agents", { body: { name: "moving", model: "perch/echo" } }));
    const insert = (url: string, userId = "ada", status: "active" | "pending" = "active") =>
      insertConnection(perch(), organisation, { agent: "moving", userId, status, tool: { ...somewhere, url } });
    const [old, now] = [await insert("https://old.example/x"), await insert("https://now.example/x")];
    const pending = await insert("https://now.example/y", "bob", "pending");
    const listed = (environment?: string) => idsOf(environment ? { environment } : {}, "moving");
    expect(await listed()).toEqual([pending, now, old]);
    expect(await listed("production")).toEqual([]);
    await setTools(tool("https://now.example/{path}"));
    expect(await listed("production")).toEqual([pending, now]);
    await setTools(tool("https://now.example/{path}", "https://login.other.example"));
    expect(await listed("production")).toEqual([pending]);
    await setTools(tool("https://old.example/v1", "https://login.example"));
    expect(await listed("production")).toEqual([old]);
  });

  test("a key of another agent, and another organisation, list nothing of it", async () => {
    const key = await organisation.createKey({ permissions: ["read"], agent_id: "other" });
    expect(await idsOf({}, "other", key)).toEqual([ofOther]);
    const params = { agent_id: "bot" };
    expectError(await organisation.call("GET /v1/agents/{agent_id}/connections", { params }, key), "not_found");
    const foreign = await perch().createOrganisation();
    expectError(await foreign.call("GET /v1/agents/{agent_id}/connections", { params }), "not_found");
  });

  test("reads a bounded number of rows, and the cursor goes on where it stopped", async () => {
    const agent = ok(await organisation.call("POST /v1/agents", { body: { name: "full", model: "perch/echo" } })).data;
    const wanted = await insertConnection(perch(), organisation, { agent: "full", userId: "first", tool: mail });
    const ids = Array.from({ length: maxReadConnections }, newUuid);
    await withClient(perch().database.adminUrl, (client) =>
      client.query(
        `insert into connections (organisation_id, id, agent_id, user_id, tool, sent_to)
           select $1, id, $2, 'user ' || id, 'book', 'https://tools.example' from unnest($3::uuid[]) id`,
        [parsePublicId("organisation", organisation.id), parsePublicId("agent", agent.id), ids],
      ),
    );
    const first = await list({ tool: "mail" }, "full");
    expect(first).toMatchObject({ data: [], pagination: { has_more: true } });
    expect(await idsOf({ tool: "mail", cursor: first.pagination.next_cursor }, "full")).toEqual([wanted]);
    expect(await idsOf({ user_id: "first" }, "full")).toEqual([wanted]);
  });
});
