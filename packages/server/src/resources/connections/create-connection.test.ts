import { accountClients, startAccountProvider } from "@perch/testkit/identity/account-provider.ts";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test, vi } from "vitest";
import { createAgent, outboundAllowedPrivateRanges, useConsentTestbed } from "../../../test/support/consent-testbed.ts";
import {
  askForLink,
  connect,
  connectedTool,
  createLink,
  openBrowser,
  publicUrl,
  readConnection,
  returnUrl,
  walkConsent,
} from "../../../test/support/consents.ts";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { createDeployment } from "../../../test/support/deployment-calls.ts";
import { type Organisation, startPerch } from "../../../test/support/harness.ts";
import { insertConnection, readConnection as readRow } from "../../../test/support/stored-connections.ts";

const testbed = useConsentTestbed();

const problemOf = (answer: Awaited<ReturnType<typeof askForLink>>) =>
  expectError(answer, "invalid_request").details?.[0];

const countRows = (organisation: Organisation, agent_id = "bot") =>
  organisation
    .call("GET /v1/agents/{agent_id}/connections", { params: { agent_id } })
    .then((answer) => ok(answer).data.length);

describe("POST /v1/agents/{agent_id}/connections", () => {
  test("201 with a pending connection and a link that works for ten minutes", async () => {
    verifies("connections.link");
    const { organisation } = testbed();
    const created = await createLink(organisation, { user_id: "ada" });
    expect(created).toMatchObject({ user_id: "ada", tool: "mail", status: "pending", issuer: null });
    expect(created.sent_to).toBe(new URL(testbed().mail.url).origin);
    expect(created.link).toMatch(new RegExp(`^${publicUrl}/connect/[\\w-]{128}$`));
    const seconds = (Date.parse(created.link_expires_at) - Date.parse(created.created_at)) / 1000;
    expect(seconds).toBeGreaterThan(595);
    expect(seconds).toBeLessThan(605);
    const { link: _, link_expires_at: __, ...shown } = created;
    expect(await readConnection(organisation, created.id)).toEqual(shown);
  });

  test("one user and tool have one connection: a second request gives a new link and makes the first void", async () => {
    verifies("connections.link");
    const { organisation, perch } = testbed();
    const first = await createLink(organisation, { user_id: "ada" });
    const second = await createLink(organisation, { user_id: "ada" });
    expect(second.id).toBe(first.id);
    expect(second.link).not.toBe(first.link);
    const browser = openBrowser(perch);
    expect((await browser.request(first.link)).status).toBe(404);
    expect((await browser.request(second.link)).status).toBe(200);
    expect((await createLink(organisation, { user_id: "bob" })).id).not.toBe(first.id);
  });

  test("a new link keeps a pending connection for another day", async () => {
    const { organisation, perch } = testbed();
    const { id } = await createLink(organisation, { user_id: "ada" });
    await withClient(perch.database.adminUrl, (client) =>
      client.query("update connections set linked_at = now() - interval '2 days' where status = 'pending'"),
    );
    await createLink(organisation, { user_id: "ada" });
    await withClient(perch.database.appUrl, (client) =>
      client.query("select purge_connections('30 days', '1 day', 1000)"),
    );
    expect((await readConnection(organisation, id)).status).toBe("pending");
  });

  test("requests at the same time get the same connection", async () => {
    const { organisation } = testbed();
    const created = await Promise.all(Array.from({ length: 5 }, () => createLink(organisation, { user_id: "ada" })));
    expect(new Set(created.map(({ id }) => id)).size).toBe(1);
    expect(await countRows(organisation)).toBe(1);
  });

  test("400 names the tools that users can connect", async () => {
    const { organisation, mail, provider } = testbed();
    expect(problemOf(await askForLink(organisation, { user_id: "ada", tool: "nope" }))).toMatchObject({
      field: "tool",
      error: 'The draft has no tool "nope". Tools that users can connect: "mail"',
    });
    const { connection: _, ...plain } = connectedTool(mail.url, provider.issuer);
    await createAgent(organisation, "plain", plain);
    expect(problemOf(await askForLink(organisation, { user_id: "ada", agent: "plain" }))?.error).toContain("the draft");
  });

  test("400 for a return address that is not registered, letter by letter", async () => {
    const { organisation } = testbed();
    for (const return_url of [`${returnUrl}/`, `${returnUrl}?x=1`, "https://evil.example/connected"])
      expect(problemOf(await askForLink(organisation, { user_id: "ada", return_url }))?.field).toBe("return_url");
    ok(await askForLink(organisation, { user_id: "ada", return_url: returnUrl }));
  });

  test("the definition is the live version's if one is deployed, and the draft's elsewhere", async () => {
    const { organisation, perch, mail, provider } = testbed();
    await createDeployment(organisation, { version: "v1" });
    // As a worker does it. The caches of the agent become void below.
    await withClient(perch.database.adminUrl, (client) =>
      client.query("update deployments set status = 'active', activated_at = now()"),
    );
    const tools = [{ ...connectedTool(mail.url, provider.issuer), name: "letters" }];
    const params = { agent_id: "bot" };
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params, body: { tools } as never }));
    expect(problemOf(await askForLink(organisation, { user_id: "ada", tool: "letters" }))?.error).toContain(
      "Version v1",
    );
    ok(await askForLink(organisation, { user_id: "ada", tool: "mail" }));
    const inStaging = { user_id: "ada", tool: "letters", environment: "staging" };
    ok(await organisation.call("POST /v1/agents/{agent_id}/connections", { params, body: inStaging }));
  });

  test("another address of the tool has a connection of its own: production and staging keep their accounts", async () => {
    verifies("connections.link");
    const { organisation, perch, mail, provider } = testbed();
    const production = await connect(perch, organisation, { user_id: "ada" });
    const moved = mail.url.replace("127.0.0.1", "localhost");
    const body = { tools: [connectedTool(moved, provider.issuer)] };
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params: { agent_id: "bot" }, body }));
    const staging = await createLink(organisation, { user_id: "ada" });
    expect(staging.id).not.toBe(production.id);
    expect(staging).toMatchObject({ status: "pending", sent_to: new URL(moved).origin });
    expect(await readConnection(organisation, production.id)).toMatchObject({ status: "active" });
  });

  test("an active connection works as before until the new consent is confirmed", async () => {
    verifies("connections.states");
    const { organisation, perch, provider } = testbed();
    const { id } = await connect(perch, organisation, { user_id: "ada" });
    const before = await readRow(perch, organisation, id);
    const { connection } = await walkConsent(perch, organisation, { user_id: "ada", login: "ada-at-work" });
    expect(connection).toMatchObject({ id, status: "active" });
    const during = await readRow(perch, organisation, id);
    expect(during).toEqual(before);
    expect(await provider.verifyToken(during.grant?.tokens.accessToken ?? "")).toMatchObject({ user: "ada" });
  });

  test("a revoked connection begins anew, without a trace of what was given up", async () => {
    const { organisation, perch } = testbed();
    const { id } = await connect(perch, organisation, { user_id: "ada" });
    const params = { agent_id: "bot", connection_id: id };
    ok(await organisation.call("POST /v1/agents/{agent_id}/connections/{connection_id}/revoke", { params }));
    const reopened = await createLink(organisation, { user_id: "ada" });
    expect(reopened).toMatchObject({ id, status: "pending", revoked_at: null, issuer: null, scopes: [] });
    expect((await readRow(perch, organisation, id)).grant).toBeNull();
    expect((await connect(perch, organisation, { user_id: "ada" })).status).toBe("active");
  });

  test("503 with when to try again if the provider does not answer, and nothing is created", async () => {
    const { organisation, mail } = testbed();
    const down = await startAccountProvider({ perch: [publicUrl] });
    await createAgent(organisation, "down", connectedTool(mail.url, down.issuer));
    await down.stop();
    const error = expectError(await askForLink(organisation, { user_id: "ada", agent: "down" }), "unavailable");
    expect(error.retry_after).toBeGreaterThan(0);
    expect(error.message).toContain("Try again");
    expect(await countRows(organisation, "down")).toBe(0);
    await down.start();
    await vi.waitFor(async () => ok(await askForLink(organisation, { user_id: "ada", agent: "down" })), {
      timeout: 10_000,
      interval: 250,
    });
    await down.stop();
  });

  test("409 names the setting to change if the connection is misconfigured", async () => {
    const { organisation, mail, provider } = testbed();
    const secret = { client_id: accountClients.confidential.clientId, client_secret: "{{secret.missing}}" };
    await createAgent(organisation, "elsewhere", connectedTool(mail.url, mail.url));
    expect(
      expectError(await askForLink(organisation, { user_id: "ada", agent: "elsewhere" }), "conflict").message,
    ).toContain("`issuer`");
    await createAgent(organisation, "secretive", connectedTool(mail.url, provider.issuer, secret));
    const answer = await askForLink(organisation, { user_id: "ada", agent: "secretive" });
    expect(expectError(answer, "conflict").message).toContain("missing");
    expect(await countRows(organisation, "secretive")).toBe(0);
  });

  test("a server that offers only dynamic registration gets one registration for an agent", async () => {
    verifies("connections.discovery");
    const { organisation, mail, provider } = testbed();
    const registrations = () => provider.requests.filter((request) => request === "POST /reg").length;
    const before = registrations();
    await createAgent(organisation, "registering", connectedTool(mail.url, provider.issuer, { client_id: undefined }));
    for (const user_id of ["ada", "bob"])
      expect((await connect(testbed().perch, organisation, { user_id, agent: "registering" })).status).toBe("active");
    expect(registrations()).toBe(before + 1);
  });

  test("a key of one agent connects users only with that agent, and needs write", async () => {
    const { organisation, mail, provider } = testbed();
    await createAgent(organisation, "second", connectedTool(mail.url, provider.issuer));
    const body = { user_id: "ada", tool: "mail" };
    const key = await organisation.createKey({ permissions: ["read", "write"], agent_id: "second" });
    const reader = await organisation.createKey({ permissions: ["read"] });
    const ask = (agent_id: string, as: string) =>
      organisation.call("POST /v1/agents/{agent_id}/connections", { params: { agent_id }, body }, as);
    ok(await ask("second", key));
    expectError(await ask("bot", key), "not_found");
    expectError(await ask("second", reader), "forbidden");
  });

  test("the quota counts connections, and a new link for an old one needs no room", async () => {
    const { perch, mail, provider } = testbed();
    const organisation = await perch.createOrganisation("free");
    await createAgent(organisation, "bot", connectedTool(mail.url, provider.issuer));
    const first = await createLink(organisation, { user_id: "user 0" });
    const { organisation_id } = await readRow(perch, organisation, first.id);
    await perch.server.core.db.inOrganisation(organisation_id, (trx) =>
      trx.updateTable("connection_counts").set({ connections: 1000 }).execute(),
    );
    const message = expectError(await askForLink(organisation, { user_id: "user 1" }), "conflict").message;
    expect(message).toContain("connections of users");
    expect((await createLink(organisation, { user_id: "user 0" })).id).toBe(first.id);
  });

  test("the same Idempotency-Key gives the same link", async () => {
    const { organisation, perch } = testbed();
    const send = () =>
      fetch(`${perch.url}/v1/agents/bot/connections`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${organisation.adminKey}`,
          "content-type": "application/json",
          "idempotency-key": "once",
        },
        body: JSON.stringify({ user_id: "ada", tool: "mail" }),
      });
    const first = await (await send()).text();
    const again = await send();
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await again.text()).toBe(first);
  });
});

test("409 asks the operator to set PERCH_PUBLIC_URL, without which there is no address to come back to", async () => {
  const { mail, provider } = testbed();
  const perch = await startPerch({ outboundAllowedPrivateRanges, publicUrl: undefined });
  try {
    const organisation = await perch.createOrganisation();
    await createAgent(organisation, "bot", connectedTool(mail.url, provider.issuer));
    const message = expectError(await askForLink(organisation, { user_id: "ada" }), "conflict").message;
    expect(message).toContain("PERCH_PUBLIC_URL");
    expect((await fetch(`${perch.url}/oauth/clients/${organisation.id}/login.example`)).status).toBe(404);
    await insertConnection(perch, organisation);
    expect(await countRows(organisation)).toBe(1);
  } finally {
    await perch.stop();
  }
});
