import { createHmac } from "node:crypto";
import type { OperationKey } from "@perch/contract";
import { describe, expect, test } from "vitest";
import { newUuid, toPublicId } from "../../src/platform/ids.ts";
import { createAgent, useConsentTestbed } from "../support/consent-testbed.ts";
import { confirm, connect, connectedTool, createLink, readConnection, walkConsent } from "../support/consents.ts";
import { buildRequest, ok } from "../support/contract-client.ts";
import type { Organisation } from "../support/harness.ts";

/** Attacks 42 to 47 of docs/security/connections.md: accounts of others, by their ids. */
const testbed = useConsentTestbed();

const byId = "/v1/agents/{agent_id}/connections/{connection_id}";
const operations = [`GET ${byId}`, `POST ${byId}/confirm`, `POST ${byId}/revoke`] as const;
type ById = (typeof operations)[number];

const body = { user_id: "ada", code: "x" };
const reach = ({ call }: Organisation, operation: ById, agent_id: string, connection_id: string, as?: string) =>
  call(operation, { params: { agent_id, connection_id }, ...(operation.endsWith("confirm") && { body }) } as never, as);

/** Without the parts that name it. Nothing else may differ between an id of another organisation and an unused id. */
const refusalOf = async (answer: ReturnType<typeof reach>, id: string) => {
  const { status, body } = await answer;
  return {
    status,
    body: JSON.stringify(body)
      .replaceAll(id, "ID")
      .replace(/"correlation_id":"[^"]+"/, ""),
  };
};

describe.each(operations)("%s", (operation) => {
  const unknown = toPublicId("connection", newUuid());

  test("attack 42: a connection of another organisation is as one that is not there", async () => {
    const { perch, organisation, foreign } = testbed();
    const { id } = await connect(perch, foreign, { user_id: "ada" });
    const refused = await refusalOf(reach(organisation, operation, "bot", id), id);
    expect(refused).toEqual(await refusalOf(reach(organisation, operation, "bot", unknown), unknown));
    expect(refused.status).toBe(404);
    expect((await readConnection(foreign, id)).status).toBe("active");
  });

  test("attack 43: a connection of another agent, and by a key of another agent", async () => {
    const { perch, organisation, mail, provider } = testbed();
    await createAgent(organisation, "other", connectedTool(mail.url, provider.issuer));
    const { id } = await connect(perch, organisation, { user_id: "ada" });
    expect((await reach(organisation, operation, "other", id)).status).toBe(404);
    const key = await organisation.createKey({ permissions: ["read", "write"], agent_id: "other" });
    expect([403, 404]).toContain((await reach(organisation, operation, "bot", id, key)).status);
    expect((await reach(organisation, operation, "other", id, key)).status).toBe(404);
    expect((await readConnection(organisation, id)).status).toBe("active");
  });
});

test("attack 44: a key that may only read gets no link, confirms nothing and revokes nothing", async () => {
  const { perch, organisation } = testbed();
  const { id } = await connect(perch, organisation, { user_id: "ada" });
  const key = await organisation.createKey({ permissions: ["read"] });
  for (const operation of operations.slice(1))
    expect((await reach(organisation, operation, "bot", id, key)).status).toBe(403);
  const create = { params: { agent_id: "bot" }, body: { user_id: "ada", tool: "mail" } };
  expect((await organisation.call("POST /v1/agents/{agent_id}/connections", create, key)).status).toBe(403);
});

test("attack 45: confirm by the id of one's own connection with the code of another's, across organisations", async () => {
  const { perch, organisation, foreign } = testbed();
  const [own, theirs] = [
    await walkConsent(perch, organisation, { user_id: "ada" }),
    await walkConsent(perch, foreign, { user_id: "eve" }),
  ];
  expect((await confirm(organisation, own.connection.id, { user_id: "ada", code: theirs.code })).status).toBe(409);
  // The other organisation's consent is untouched.
  ok(await confirm(foreign, theirs.connection.id, { user_id: "eve", code: theirs.code }));
});

describe("attack 46: a user of an agent whose callers show who they are", () => {
  const secret = "a secret that has 32 bytes or more";
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  function tokenOf(user_id: string): string {
    const iat = Math.floor(Date.now() / 1000);
    const signed = `${encode({ alg: "HS256", typ: "JWT" })}.${encode({ user_id, iat, exp: iat + 600 })}`;
    return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
  }

  async function sendAs(user: string, key: OperationKey, request: Parameters<typeof buildRequest>[1]) {
    const { perch, organisation } = testbed();
    const { path, init } = buildRequest(key, request);
    const headers = {
      ...(init.headers as Record<string, string>),
      authorization: `Bearer ${organisation.adminKey}`,
      "x-user-token": tokenOf(user),
    };
    const response = await fetch(perch.url + path, { ...init, headers });
    return { status: response.status, body: (await response.json()) as { data: never } };
  }

  test("creates, sees, confirms and revokes connections of only that user", async () => {
    const { perch, organisation } = testbed();
    const { id } = await connect(perch, organisation, { user_id: "victor" });
    const pending = await walkConsent(perch, organisation, { user_id: "ada" });
    const params = { agent_id: "bot" };
    const auth = { type: "jwt", secret };
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params, body: { auth } as never }));

    const list = "GET /v1/agents/{agent_id}/connections";
    const seen = await sendAs("mallory", list, { params });
    expect([seen.status, seen.body.data]).toEqual([200, []]);
    expect((await sendAs("mallory", list, { params, query: { user_id: "victor" } })).status).not.toBe(500);
    const filtered = await sendAs("mallory", list, { params, query: { user_id: "victor" } });
    expect(JSON.stringify(filtered.body)).not.toContain(id);

    const create = { params, body: { user_id: "victor", tool: "mail" } };
    expect([400, 403]).toContain((await sendAs("mallory", "POST /v1/agents/{agent_id}/connections", create)).status);
    for (const operation of operations) {
      const at = { params: { ...params, connection_id: id } };
      const answer = await sendAs(
        "mallory",
        operation,
        operation.endsWith("confirm") ? { ...at, body: { user_id: "mallory", code: "x" } } : at,
      );
      expect([operation, answer.status]).toEqual([operation, 404]);
    }
    // A link that was made for ada, behind which victor consented: only ada's own token may confirm it.
    const { connection, code } = pending;
    const confirming = { params: { ...params, connection_id: connection.id }, body: { user_id: "ada", code } };
    expect((await sendAs("mallory", `POST ${byId}/confirm`, confirming)).status).not.toBe(200);
    const { status, body: own } = await sendAs("victor", `GET ${byId}`, { params: { ...params, connection_id: id } });
    expect([status, own.data]).toEqual([200, expect.objectContaining({ status: "active" })]);
  });
});

test("attack 47: ids of users that look alike are different users", async () => {
  const { perch, organisation } = testbed();
  const first = await connect(perch, organisation, { user_id: "ada" });
  const ids = ["Ada", "ada ", " ada", "аda", "ada\u200b", "ada\u0301", "ADA", "ada/../ada", "%61da"];
  for (const user_id of ids) {
    const other = await createLink(organisation, { user_id });
    expect([user_id, other.id === first.id, other.status]).toEqual([user_id, false, "pending"]);
  }
  const query = { user_id: "ada" };
  const listed = await organisation.call("GET /v1/agents/{agent_id}/connections", {
    params: { agent_id: "bot" },
    query: query as never,
  });
  expect(ok(listed).data.map(({ id }) => id)).toEqual([first.id]);
});
