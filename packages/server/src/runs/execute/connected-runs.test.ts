import { type AccountProvider, startAccountProvider } from "@perch/testkit/identity/account-provider.ts";
import {
  type OAuthMcpServer,
  type OAuthToolServer,
  startOAuthMcpServer,
  startOAuthToolServer,
} from "@perch/testkit/servers/oauth-mcp-server.ts";
import { startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { startWebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  accountConfig,
  accountServer,
  accountTool,
  type ConnectedTool,
  connectAccount,
  perchUrl,
} from "../../../test/support/connected-accounts.ts";
import { ok } from "../../../test/support/contract-client.ts";
import { decide, waitForApprovals } from "../../../test/support/decisions.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { invokeInBackground } from "../../../test/support/invoke-calls.ts";
import { callThenQuote, callTool, createAgentWithTools } from "../../../test/support/secret-runs.ts";
import { readConnection, setAccessExpiry } from "../../../test/support/stored-connections.ts";
import { fastWebhookConfig } from "../../../test/support/webhook-calls.ts";

const script = await startScriptServer(callThenQuote);
const receiver = await startWebhookReceiver();
const perch = usePerch({ ...accountConfig, ...fastWebhookConfig, scriptModelUrl: script.url }, { withWorker: true });
let provider: AccountProvider;
let mail: OAuthMcpServer;
let book: OAuthToolServer;
beforeAll(async () => {
  provider = await startAccountProvider({ perch: [perchUrl] });
  [mail, book] = [await startOAuthMcpServer(provider), await startOAuthToolServer(provider)];
});
afterAll(async () => {
  await Promise.all([mail.close(), book.close(), receiver.close(), script.close()]);
  await provider.stop();
});

async function createOrganisationWithTools(): Promise<{ organisation: Organisation; tools: ConnectedTool[] }> {
  const organisation = await perch().createOrganisation();
  const tools = [accountTool(book.url, provider), accountServer(mail.url, provider)];
  await createAgentWithTools(organisation, tools);
  return { organisation, tools };
}

async function connectUser(organisation: Organisation, tools: readonly ConnectedTool[], userId: string) {
  const connections: string[] = [];
  for (const tool of tools) connections.push(await connectAccount(perch(), organisation, { userId, tool }));
  return connections;
}

const asUser = (user_id: string) => ({ context: { user_id } });
const logOf = async ({ call }: Organisation): Promise<string> =>
  JSON.stringify(
    ok(await call("GET /v1/agents/{agent_id}/logs", { params: { agent_id: "bot" }, query: { limit: 100 } })).data,
  );

describe("runs with users' accounts", () => {
  test("each call, of an HTTP tool and of an MCP server, has the token of its own user", async () => {
    verifies("connections.own-user");
    const { organisation, tools } = await createOrganisationWithTools();
    for (const userId of ["ada", "bob"]) await connectUser(organisation, tools, userId);
    const calls = Array.from({ length: 20 }, (_, i) => ({
      user: i % 2 ? "ada" : "bob",
      tool: i % 4 < 2 ? "book" : "mail_whoami",
    }));
    const answers = await Promise.all(
      calls.map(({ user, tool }) => callTool(perch(), organisation, { tool, ...asUser(user) })),
    );
    expect(answers).toEqual(calls.map(({ user, tool }) => (tool === "book" ? JSON.stringify({ user }) : user)));
  });

  test("without a connection the run goes on: the model is informed, and the log explains how to get a link", async () => {
    verifies("connections.not-connected");
    const { organisation, tools } = await createOrganisationWithTools();
    await connectUser(organisation, tools, "ada");
    const before = [book.calls.length, mail.requests.length];
    const told = "they have to connect it first";
    expect(await callTool(perch(), organisation, { tool: "book", ...asUser("bob") })).toContain(told);
    // The server's tools cannot be listed, so that it is one tool.
    expect(await callTool(perch(), organisation, { tool: "mail", ...asUser("bob") })).toContain(told);
    expect(await callTool(perch(), organisation, { tool: "mail_whoami", ...asUser("bob") })).toContain("no tool");
    const log = await logOf(organisation);
    expect(log).toContain("The tool book was not called: the run's user has not connected an account with it.");
    expect(log).toContain("The tool mail was not called: the run's user has not connected an account with it.");
    expect(log).toMatch(/`POST \/v1\/agents\/agent_\w+\/connections` with `\W+tool\W+book\W+` gives a link/);
    expect([book.calls.length, mail.requests.length]).toEqual(before);
  });

  test("a run without a user uses no account", async () => {
    verifies("connections.not-connected");
    const { organisation, tools } = await createOrganisationWithTools();
    await connectUser(organisation, tools, "ada");
    const before = [book.calls.length, mail.requests.length];
    for (const tool of ["book", "mail"])
      expect(await callTool(perch(), organisation, { tool })).toContain("the user of this conversation is not known");
    expect(await logOf(organisation)).toContain("Name the user in `context.user_id` of the invoke.");
    expect([book.calls.length, mail.requests.length]).toEqual(before);
  });

  test("a hundred runs at once with an expired token: one refresh, and none sends the old one", async () => {
    verifies("connections.refresh");
    const { organisation, tools } = await createOrganisationWithTools();
    const [connection = ""] = await connectUser(organisation, tools.slice(0, 1), "ada");
    const old = (await readConnection(perch(), organisation, connection)).grant?.tokens.accessToken ?? "";
    await setAccessExpiry(perch(), organisation, connection, -1);
    const [refreshes, sent] = [provider.countTokenRequests("refresh_token"), book.calls.length];
    const withoutServer = tools.slice(0, 1);
    ok(
      await organisation.call("PATCH /v1/agents/{agent_id}", {
        params: { agent_id: "bot" },
        body: { tools: withoutServer },
      }),
    );
    const runs = Array.from({ length: 100 }, () => callTool(perch(), organisation, asUser("ada")));
    expect(new Set(await Promise.all(runs))).toEqual(new Set([JSON.stringify({ user: "ada" })]));
    expect(provider.countTokenRequests("refresh_token") - refreshes).toBe(1);
    const tokens = book.calls.slice(sent).map(({ headers }) => String(headers.authorization));
    expect(tokens).toHaveLength(100);
    expect(tokens.filter((authorization) => authorization.includes(old))).toEqual([]);
  });

  test.each(["book", "mail_whoami"])("%s: a refused token is refreshed, and the call repeated once", async (tool) => {
    verifies("connections.refresh");
    const { organisation, tools } = await createOrganisationWithTools();
    const [ofBook = "", ofMail = ""] = await connectUser(organisation, tools, "ada");
    const connection = tool === "book" ? ofBook : ofMail;
    const { grant } = await readConnection(perch(), organisation, connection);
    for (const { rejectedTokens } of [book, mail]) rejectedTokens.add(grant?.tokens.accessToken ?? "");
    const refreshes = provider.countTokenRequests("refresh_token");
    expect(await callTool(perch(), organisation, { tool, ...asUser("ada") })).toContain("ada");
    expect(provider.countTokenRequests("refresh_token") - refreshes).toBe(1);
    expect((await readConnection(perch(), organisation, connection)).generation).toBe(2);
  });

  test("a tool that refuses the new token too fails with advice, and the account stays connected", async () => {
    verifies("connections.refresh");
    const { organisation } = await createOrganisationWithTools();
    // It accepts tokens of another provider than its definition names.
    const elsewhere = await startAccountProvider({ perch: [perchUrl] });
    const strict = await startOAuthToolServer(elsewhere, { metadata: false });
    const refusing = accountTool(strict.url, provider, "strict");
    await createAgentWithTools(organisation, [refusing], "strict");
    const id = await connectAccount(perch(), organisation, { agent: "strict", userId: "ada", tool: refusing });
    const refreshes = provider.countTokenRequests("refresh_token");
    for (let i = 0; i < 3; i++)
      expect(await callTool(perch(), organisation, { agent: "strict", tool: "strict", ...asUser("ada") })).toContain(
        "It refuses the user's account",
      );
    // The second time it was refreshed a moment ago.
    expect(provider.countTokenRequests("refresh_token") - refreshes).toBe(1);
    expect(await readConnection(perch(), organisation, id)).toMatchObject({ status: "active", generation: 2 });
    await Promise.all([strict.close(), elsewhere.stop()]);
  });

  test("a withdrawn consent: state, event at a webhook, reason in the log, and a message to the model", async () => {
    verifies("connections.needs-reauth");
    const { organisation, tools } = await createOrganisationWithTools();
    const [connection = "", ofMail = ""] = await connectUser(organisation, tools, "eve");
    const events = ["connection.needs_reauth" as const];
    ok(await organisation.call("POST /v1/webhooks", { body: { url: receiver.url, events } }));
    provider.revokeGrants("eve");
    expect(await callTool(perch(), organisation, { tool: "book", ...asUser("eve") })).toContain("connect it again");
    // The tools are listed once more: now the server is one tool that reports the missing connection.
    expect(await callTool(perch(), organisation, { tool: "mail", ...asUser("eve") })).toContain("connect it again");
    for (const id of [connection, ofMail])
      expect(await readConnection(perch(), organisation, id)).toMatchObject({ status: "needs_reauth" });
    const log = await logOf(organisation);
    expect(log).toContain("could not use the user's account. The authorization server");
    expect(log).toContain("no longer accepts the user's consent");
    await expect.poll(() => receiver.received.length).toBe(2);
    const delivered = receiver.received.map(({ body }) => JSON.parse(body));
    for (const { type, data } of delivered) {
      expect(type).toBe("connection.needs_reauth");
      expect(data).toMatchObject({ status: "needs_reauth", user_id: "eve", reason: expect.stringContaining("400") });
    }
    expect(new Set(delivered.map(({ data }) => data.id))).toEqual(new Set([connection, ofMail]));
  });

  test("a token endpoint that is down fails calls with the reason, and runs recover by themselves", async () => {
    verifies("connections.refresh");
    const { organisation, tools } = await createOrganisationWithTools();
    const [connection = "", ofMail = ""] = await connectUser(organisation, tools, "ada");
    await setAccessExpiry(perch(), organisation, connection, -1);
    await provider.stop();
    const sent = book.calls.length;
    expect(await callTool(perch(), organisation, asUser("ada"))).toMatch(/The tool failed: .*could not be reached/);
    expect(book.calls.length).toBe(sent);
    await provider.start();
    expect(await callTool(perch(), organisation, asUser("ada"))).toBe(JSON.stringify({ user: "ada" }));
    expect(await readConnection(perch(), organisation, connection)).toMatchObject({ status: "active", generation: 2 });
    expect((await readConnection(perch(), organisation, ofMail)).status).toBe("active");
  });

  test("a run that waited for a person goes on with the account of its own user, as it is then", async () => {
    verifies("connections.own-user");
    const { organisation } = await createOrganisationWithTools();
    const tool = { ...accountTool(book.url, provider, "pay"), approval: "always" as const } as ConnectedTool;
    await createAgentWithTools(organisation, [tool], "careful");
    for (const userId of ["ada", "bob"])
      await connectAccount(perch(), organisation, { agent: "careful", userId, tool, expiresInSeconds: 60 });
    const message = JSON.stringify({ name: "pay", arguments: {} });
    const start = (user_id: string) =>
      invokeInBackground(perch(), organisation.adminKey, { message, context: { user_id } }, { agent: "careful" });
    const runs = [await start("ada"), await start("bob")];
    const before = book.accepted.length;
    for (const run of runs)
      for (const { id } of await waitForApprovals(perch(), organisation, run))
        await decide(perch(), organisation, id, { verdict: "approve" });
    await expect.poll(() => book.accepted.length).toBe(before + 2);
    const users = new Map(book.accepted.slice(before).map(({ user, call }) => [call.headers["x-request-id"], user]));
    expect(runs.map((run) => users.get(run))).toEqual(["ada", "bob"]);
  });
});
