import { verifies } from "@perch/testkit/verifies.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { ok } from "../support/contract-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { insertConnection } from "../support/stored-connections.ts";

const perch = usePerch();
let mine: Organisation;
let theirs: Organisation;
let theirConnection: string;

beforeAll(async () => {
  [mine, theirs] = [await perch().createOrganisation(), await perch().createOrganisation()];
  for (const { call } of [mine, theirs])
    ok(await call("POST /v1/agents", { body: { name: "shared-name", model: "perch/echo" } }));
  ok(await theirs.call("POST /v1/agents", { body: { name: "only-theirs", model: "perch/echo" } }));
  const configuration = { revocationEndpoint: null };
  theirConnection = await insertConnection(perch(), theirs, { agent: "only-theirs", configuration });
});

const list = "GET /v1/agents/{agent_id}/connections";
const one = "/v1/agents/{agent_id}/connections/{connection_id}";

/** Everything that names the connection, through its own agent and through another: their statuses. */
const tryEverything = async ({ call }: Organisation, key: string): Promise<number[]> => {
  const answers = ["only-theirs", "shared-name"].flatMap((agent_id) => {
    const params = { agent_id, connection_id: theirConnection };
    return [
      call(`GET ${one}`, { params }, key),
      call(`POST ${one}/confirm`, { params, body: { user_id: "ada", code: "guessed" } }, key),
      call(`POST ${one}/revoke`, { params }, key),
    ];
  });
  return (await Promise.all(answers)).map(({ status }) => status);
};

const allHidden = Array.from({ length: 6 }, () => 404);

describe.each(["organisation key", "agent-scoped key"])("connections of another organisation, %s", (kind) => {
  test("404 hides them, through their agent and through one's own; lists leave them out", async () => {
    verifies("auth.other-organisation-404");
    const agent = kind === "organisation key" ? {} : { agent_id: "shared-name" };
    const key = await mine.createKey({ role: "admin", ...agent });
    expect(await tryEverything(mine, key)).toEqual(allHidden);
    expect((await mine.call(list, { params: { agent_id: "only-theirs" } }, key)).status).toBe(404);
    expect(ok(await mine.call(list, { params: { agent_id: "shared-name" } }, key)).data).toEqual([]);
    const own = ok(await theirs.call(list, { params: { agent_id: "only-theirs" } })).data;
    expect(own).toMatchObject([{ id: theirConnection, status: "active" }]);
  });
});

test("an agent-scoped key reaches no connection of another agent of its organisation", async () => {
  verifies("auth.other-agent-404");
  const key = await theirs.createKey({ role: "admin", agent_id: "shared-name" });
  expect(await tryEverything(theirs, key)).toEqual(allHidden);
  expect((await theirs.call(list, { params: { agent_id: "only-theirs" } }, key)).status).toBe(404);
});
