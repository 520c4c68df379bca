import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { sql } from "kysely";
import { describe, expect, test, vi } from "vitest";
import { useConsentTestbed } from "../../../test/support/consent-testbed.ts";
import {
  confirm,
  connect,
  connectedTool,
  createLink,
  openBrowser,
  readConnection,
  walkConsent,
} from "../../../test/support/consents.ts";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { readConnection as readRow } from "../../../test/support/stored-connections.ts";
import { parsePublicId } from "../../platform/ids.ts";

const testbed = useConsentTestbed();

/** As if that much time had passed. */
const ageLink = (minutes: number) => {
  const { perch, organisation } = testbed();
  return perch.server.core.db.inOrganisation(parsePublicId("organisation", organisation.id) ?? "", (trx) =>
    trx
      .updateTable("connection_links")
      .set({ expires_at: sql`expires_at - make_interval(mins => ${minutes})` })
      .execute(),
  );
};

const exchanges = () => testbed().provider.requests.filter((request) => request === "POST /token").length;

/** Runs `work` between the exchange of a code and the storing of the tokens, with the token that was issued. */
function duringExchange(work: (issued: string) => Promise<void>): { readonly issued: () => string } {
  const { oauth } = testbed().perch.server.core.outbound;
  const { exchangeCode } = oauth;
  let issued = "";
  vi.spyOn(oauth, "exchangeCode").mockImplementationOnce(async (...given) => {
    const tokens = await exchangeCode(...given);
    issued = tokens.accessToken;
    await work(issued);
    return tokens;
  });
  return { issued: () => issued };
}

const revoke = async (connection_id: string) =>
  ok(
    await testbed().organisation.call("POST /v1/agents/{agent_id}/connections/{connection_id}/revoke", {
      params: { agent_id: "bot", connection_id },
    }),
  );

const isAccepted = async (token: string) => (await testbed().provider.verifyToken(token)) !== undefined;

describe("POST /v1/agents/{agent_id}/connections/{connection_id}/confirm", () => {
  test("makes the connection active with the user's own token, which is fetched no earlier", async () => {
    verifies("connections.confirm", "connections.states");
    const { organisation, perch, provider, mail } = testbed();
    const before = exchanges();
    const { connection, code } = await walkConsent(perch, organisation, { user_id: "ada" });
    expect(exchanges()).toBe(before);
    expect(await readConnection(organisation, connection.id)).toMatchObject({ status: "pending", issuer: null });
    const confirmed = ok(await confirm(organisation, connection.id, { user_id: "ada", code })).data;
    expect(confirmed).toMatchObject({
      id: connection.id,
      status: "active",
      reason: null,
      sent_to: new URL(mail.url).origin,
      issuer: provider.issuer,
      scopes: ["mail.read", "offline_access"],
      connected_at: expect.any(String),
    });
    expect(JSON.stringify(confirmed)).not.toContain(code);
    expect(exchanges()).toBe(before + 1);
    const { grant, generation, access_expires_at } = await readRow(perch, organisation, connection.id);
    expect(generation).toBe(1);
    expect(access_expires_at?.getTime()).toBeGreaterThan(Date.now() + 3_500_000);
    expect(await provider.verifyToken(grant?.tokens.accessToken ?? "")).toMatchObject({
      user: "ada",
      audience: mail.url,
    });
  });

  test("409 with another code: nothing is fetched, and the right code does not count any more", async () => {
    const { organisation, perch } = testbed();
    const before = exchanges();
    const { connection, code } = await walkConsent(perch, organisation, { user_id: "ada" });
    const wrong = await confirm(organisation, connection.id, { user_id: "ada", code: `${code}x` });
    expect(expectError(wrong, "conflict").message).toContain("POST /v1/agents/{agent_id}/connections");
    expectError(await confirm(organisation, connection.id, { user_id: "ada", code }), "conflict");
    expect(exchanges()).toBe(before);
    expect(await readConnection(organisation, connection.id)).toMatchObject({ status: "pending" });
  });

  test("409 with another user: nothing is fetched, and the right user comes too late", async () => {
    verifies("connections.confirm");
    const { organisation, perch } = testbed();
    const before = exchanges();
    const { connection, code } = await walkConsent(perch, organisation, { user_id: "ada" });
    expectError(await confirm(organisation, connection.id, { user_id: "bob", code }), "conflict");
    expectError(await confirm(organisation, connection.id, { user_id: "ada", code }), "conflict");
    expect(exchanges()).toBe(before);
  });

  test("again with the same code and user gives the same answer, and fetches nothing", async () => {
    verifies("connections.confirm");
    const { organisation, perch } = testbed();
    const { connection, code } = await walkConsent(perch, organisation, { user_id: "ada" });
    const body = { user_id: "ada", code };
    const first = ok(await confirm(organisation, connection.id, body));
    const before = exchanges();
    expect(ok(await confirm(organisation, connection.id, body))).toEqual(first);
    expectError(await confirm(organisation, connection.id, { user_id: "bob", code }), "conflict");
    expect(exchanges()).toBe(before);
    expect((await readRow(perch, organisation, connection.id)).generation).toBe(1);
  });

  test("five at once exchange the code once, and get the same answer", async () => {
    const { organisation, perch } = testbed();
    const { connection, code } = await walkConsent(perch, organisation, { user_id: "ada" });
    const before = exchanges();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => confirm(organisation, connection.id, { user_id: "ada", code })),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(ok(answer)))).size).toBe(1);
    expect(exchanges()).toBe(before + 1);
    expect(await readConnection(organisation, connection.id)).toMatchObject({ status: "active" });
  });

  test("409 after two minutes", async () => {
    const { organisation, perch } = testbed();
    const { connection, code } = await walkConsent(perch, organisation, { user_id: "ada" });
    await ageLink(2);
    expectError(await confirm(organisation, connection.id, { user_id: "ada", code }), "conflict");
  });

  test("409 after a newer link was made, or the connection was revoked", async () => {
    const { organisation, perch } = testbed();
    const { connection, code } = await walkConsent(perch, organisation, { user_id: "ada" });
    await createLink(organisation, { user_id: "ada" });
    expectError(await confirm(organisation, connection.id, { user_id: "ada", code }), "conflict");
    const second = await walkConsent(perch, organisation, { user_id: "ada" });
    const params = { agent_id: "bot", connection_id: connection.id };
    ok(await organisation.call("POST /v1/agents/{agent_id}/connections/{connection_id}/revoke", { params }));
    expectError(await confirm(organisation, connection.id, { user_id: "ada", code: second.code }), "conflict");
  });

  test("409 before the user has consented", async () => {
    const { organisation, perch } = testbed();
    const connection = await createLink(organisation, { user_id: "ada" });
    expectError(await confirm(organisation, connection.id, { user_id: "ada", code: "x" }), "conflict");
    const { location } = await openBrowser(perch).press(connection.link);
    const state = new URL(location).searchParams.get("state") ?? "";
    for (const code of [state, connection.link.slice(-128)])
      expectError(await confirm(organisation, connection.id, { user_id: "ada", code }), "conflict");
  });

  test("503 while the provider does not answer; the same code counts once it does", async () => {
    const { organisation, perch, provider } = testbed();
    const { connection, code } = await walkConsent(perch, organisation, { user_id: "ada" });
    const body = { user_id: "ada", code };
    provider.setTokenEndpoint({ status: 503 });
    try {
      const error = expectError(await confirm(organisation, connection.id, body), "unavailable");
      expect(error.retry_after).toBeGreaterThan(0);
      expect(error.message).toContain("Confirm again");
    } finally {
      provider.setTokenEndpoint("up");
    }
    expect(ok(await confirm(organisation, connection.id, body)).data.status).toBe("active");
  });

  test("409 if the provider refuses the code, and a new link mends it", async () => {
    const { organisation, perch, provider } = testbed();
    const { connection, code } = await walkConsent(perch, organisation, { user_id: "ada" });
    provider.setTokenEndpoint({ status: 400, body: { error: "invalid_grant", error_description: "<b>too late</b>" } });
    try {
      const { message } = expectError(await confirm(organisation, connection.id, { user_id: "ada", code }), "conflict");
      expect(message).toContain("new link");
      expect(message).not.toContain("too late");
    } finally {
      provider.setTokenEndpoint("up");
    }
    expectError(await confirm(organisation, connection.id, { user_id: "ada", code }), "conflict");
    expect((await connect(perch, organisation, { user_id: "ada" })).status).toBe("active");
  });

  test("a new consent replaces the account, and ends `needs_reauth`", async () => {
    const { organisation, perch, provider } = testbed();
    const { id } = await connect(perch, organisation, { user_id: "ada" });
    await perch.server.core.db.inOrganisation(parsePublicId("organisation", organisation.id) ?? "", (trx) =>
      trx.updateTable("connections").set({ status: "needs_reauth", reason: "It was refused." }).execute(),
    );
    const again = await connect(perch, organisation, { user_id: "ada", login: "ada-at-work" });
    expect(again).toMatchObject({ id, status: "active", reason: null });
    const { grant, generation } = await readRow(perch, organisation, id);
    expect(generation).toBe(2);
    expect(await provider.verifyToken(grant?.tokens.accessToken ?? "")).toMatchObject({ user: "ada-at-work" });
  });

  test("409 if the connection is revoked during the exchange, and the tokens are given back", async () => {
    const { organisation, perch, provider } = testbed();
    const { connection, code } = await walkConsent(perch, organisation, { user_id: "ada" });
    const { oauth } = perch.server.core.outbound;
    const { exchangeCode } = oauth;
    let issued = "";
    vi.spyOn(oauth, "exchangeCode").mockImplementationOnce(async (...given) => {
      const tokens = await exchangeCode(...given);
      issued = tokens.accessToken;
      const params = { agent_id: "bot", connection_id: connection.id };
      ok(await organisation.call("POST /v1/agents/{agent_id}/connections/{connection_id}/revoke", { params }));
      return tokens;
    });
    const error = expectError(await confirm(organisation, connection.id, { user_id: "ada", code }), "conflict");
    expect(error.message).toContain("revoked meanwhile");
    expect(await readConnection(organisation, connection.id)).toMatchObject({ status: "revoked" });
    expect((await readRow(perch, organisation, connection.id)).sealed_grant).toBeNull();
    await vi.waitFor(async () => expect(await provider.verifyToken(issued)).toBeUndefined());
  });

  test("409 if it is revoked and linked anew during the exchange: a consent that was given up does not return", async () => {
    verifies("connections.confirm");
    const { organisation, perch } = testbed();
    const { connection, code } = await walkConsent(perch, organisation, { user_id: "ada" });
    const { issued } = duringExchange(async () => {
      await revoke(connection.id);
      await createLink(organisation, { user_id: "ada" });
    });
    expectError(await confirm(organisation, connection.id, { user_id: "ada", code }), "conflict");
    expect(await readConnection(organisation, connection.id)).toMatchObject({ status: "pending" });
    await vi.waitFor(async () => expect(await isAccepted(issued())).toBe(false));
  });

  test("409 if a newer consent is confirmed during the exchange: that one stays", async () => {
    const { organisation, perch, provider } = testbed();
    const { connection, code } = await walkConsent(perch, organisation, { user_id: "ada" });
    duringExchange(async () => void (await connect(perch, organisation, { user_id: "ada", login: "ada-at-work" })));
    expectError(await confirm(organisation, connection.id, { user_id: "ada", code }), "conflict");
    const { grant, generation } = await readRow(perch, organisation, connection.id);
    expect(generation).toBe(1);
    expect(await provider.verifyToken(grant?.tokens.accessToken ?? "")).toMatchObject({ user: "ada-at-work" });
  });

  test("tokens that cannot be stored are revoked, and the code is refused at once", async () => {
    const { organisation, perch } = testbed();
    const { connection, code } = await walkConsent(perch, organisation, { user_id: "ada" });
    const change = (sql: string) => withClient(perch.database.adminUrl, (client) => client.query(sql));
    const { issued } = duringExchange(
      async () =>
        void (await change("alter table connections add constraint none check (status <> 'active') not valid")),
    );
    try {
      expect((await confirm(organisation, connection.id, { user_id: "ada", code })).status).toBe(500);
    } finally {
      await change("alter table connections drop constraint none");
    }
    const began = Date.now();
    expectError(await confirm(organisation, connection.id, { user_id: "ada", code }), "conflict");
    expect(Date.now() - began).toBeLessThan(5000);
    await vi.waitFor(async () => expect(await isAccepted(issued())).toBe(false));
  });

  test("if only the answer of the database is lost, the tokens stay, and a repeat gets the answer", async () => {
    const { organisation, perch } = testbed();
    const { connection, code } = await walkConsent(perch, organisation, { user_id: "ada" });
    const { db } = perch.server.core;
    const { inOrganisation } = db;
    const { issued } = duringExchange(async () => {
      vi.spyOn(db, "inOrganisation").mockImplementationOnce(async (id, work) => {
        await inOrganisation(id, work);
        throw new Error("the connection was lost");
      });
    });
    expect((await confirm(organisation, connection.id, { user_id: "ada", code })).status).toBe(500);
    expect(ok(await confirm(organisation, connection.id, { user_id: "ada", code })).data.status).toBe("active");
    expect(await isAccepted(issued())).toBe(true);
  });

  test("an Idempotency-Key that was used for another code is refused before this one is used up", async () => {
    const { organisation, perch } = testbed();
    const confirmWith = async (key: string, id: string, code: string) => {
      const answer = await fetch(`${perch.url}/v1/agents/bot/connections/${id}/confirm`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${organisation.adminKey}`,
          "content-type": "application/json",
          "idempotency-key": key,
        },
        body: JSON.stringify({ user_id: "ada", code }),
      });
      return { status: answer.status, text: await answer.text() };
    };
    const first = await walkConsent(perch, organisation, { user_id: "ada" });
    const { id } = first.connection;
    expect((await confirmWith("key-of-the-connection", id, first.code)).status).toBe(200);
    const second = await walkConsent(perch, organisation, { user_id: "ada" });
    const before = exchanges();
    const refused = await confirmWith("key-of-the-connection", id, second.code);
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining("Idempotency-Key")]);
    expect(exchanges()).toBe(before);
    expect((await confirmWith("another-key", id, second.code)).status).toBe(200);
  });

  test("the end of a token is by the database's clock, whatever the node's shows", async () => {
    const { organisation, perch } = testbed();
    const { connection, code } = await walkConsent(perch, organisation, { user_id: "ada" });
    const { oauth } = perch.server.core.outbound;
    const { exchangeCode } = oauth;
    const { now } = Date;
    const aheadMs = 3_600_000;
    vi.spyOn(oauth, "exchangeCode").mockImplementationOnce(async (...given) => {
      const tokens = await exchangeCode(...given);
      // The provider is in this process, and its clock is right.
      vi.spyOn(Date, "now").mockImplementation(() => now() + aheadMs);
      return { ...tokens, expiresAtMs: (tokens.expiresAtMs ?? 0) + aheadMs };
    });
    const answer = await confirm(organisation, connection.id, { user_id: "ada", code });
    vi.mocked(Date.now).mockRestore();
    ok(answer);
    const { rows } = await withClient(perch.database.adminUrl, (client) =>
      client.query<{ left: number }>(
        "select extract(epoch from access_expires_at - connected_at)::int as left from connections where id = $1",
        [parsePublicId("connection", connection.id)],
      ),
    );
    expect(rows[0]?.left).toBeGreaterThan(3500);
    expect(rows[0]?.left).toBeLessThan(3700);
  });

  test("what a consent with another client replaces is revoked at the provider; of the same client, it is left", async () => {
    const { organisation, perch, provider, mail } = testbed();
    const { id } = await connect(perch, organisation, { user_id: "ada" });
    const tokenOf = async () => (await readRow(perch, organisation, id)).grant?.tokens.accessToken ?? "";
    const first = await tokenOf();
    await connect(perch, organisation, { user_id: "ada" });
    const second = await tokenOf();
    expect([await isAccepted(first), await isAccepted(second)]).toEqual([true, true]);
    const body = { tools: [connectedTool(mail.url, provider.issuer, { client_id: undefined })] };
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params: { agent_id: "bot" }, body }));
    expect((await connect(perch, organisation, { user_id: "ada" })).id).toBe(id);
    await vi.waitFor(async () => expect(await isAccepted(second)).toBe(false));
    expect(await isAccepted(await tokenOf())).toBe(true);
  });

  test("a server that refuses a code keeps its registration; one that refuses the client gets a new one", async () => {
    const { organisation, perch, provider, mail } = testbed();
    const registrations = () => provider.requests.filter((request) => request === "POST /reg").length;
    const body = { tools: [connectedTool(mail.url, provider.issuer, { client_id: undefined })] };
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params: { agent_id: "bot" }, body }));
    const refuse = async (error: string, status: number) => {
      const { connection, code } = await walkConsent(perch, organisation, { user_id: "ada" });
      provider.setTokenEndpoint({ status, body: { error } });
      try {
        expectError(await confirm(organisation, connection.id, { user_id: "ada", code }), "conflict");
      } finally {
        provider.setTokenEndpoint("up");
      }
    };
    const before = registrations();
    await refuse("invalid_grant", 400);
    await createLink(organisation, { user_id: "ada" });
    expect(registrations()).toBe(before + 1);
    await refuse("invalid_client", 401);
    await createLink(organisation, { user_id: "ada" });
    expect(registrations()).toBe(before + 2);
  });

  test("is in the audit log, without the code", async () => {
    const { organisation, perch } = testbed();
    const { connection, code } = await walkConsent(perch, organisation, { user_id: "ada" });
    ok(await confirm(organisation, connection.id, { user_id: "ada", code }));
    const { data } = ok(await organisation.call("GET /v1/audit-log", {}));
    expect(data.slice(0, 2).map(({ operation, resource }) => [operation, resource])).toEqual([
      ["confirmConnection", connection.id],
      ["createConnection", connection.id],
    ]);
    expect(JSON.stringify(data)).not.toContain(code);
  });
});
