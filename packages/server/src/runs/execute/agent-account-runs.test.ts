import {
  type AccountProvider,
  accountClients,
  startAccountProvider,
} from "@perch/testkit/identity/account-provider.ts";
import { type OAuthMcpServer, startOAuthMcpServer } from "@perch/testkit/servers/oauth-mcp-server.ts";
import { startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { accountConfig } from "../../../test/support/connected-accounts.ts";
import { ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { callThenQuote, callTool, createAgentWithTools } from "../../../test/support/secret-runs.ts";

const script = await startScriptServer(callThenQuote);
const perch = usePerch({ ...accountConfig, scriptModelUrl: script.url }, { withWorker: true });
const { clientId, clientSecret } = accountClients.machine;
let provider: AccountProvider;
let mail: OAuthMcpServer;
let organisation: Organisation;

beforeAll(async () => {
  provider = await startAccountProvider({ perch: [] });
  mail = await startOAuthMcpServer(provider);
});
afterAll(async () => {
  await Promise.all([mail.close(), script.close()]);
  await provider.stop();
});
beforeEach(async () => {
  organisation = await perch().createOrganisation();
  const connection = {
    account: "agent" as const,
    issuer: provider.issuer,
    client_id: clientId,
    client_secret: "{{secret.machine}}",
    scopes: ["mail.read"],
    resource: mail.url,
  };
  await createAgentWithTools(organisation, [{ type: "mcp", name: "mail", url: mail.url, connection }]);
});

const setSecret = async (value: string, host = provider.issuer) =>
  ok(await organisation.call("POST /v1/secrets", { body: { name: "machine", value, hosts: [host] } }));
const call = (user_id?: string) =>
  callTool(perch(), organisation, { tool: "mail_whoami", ...(user_id !== undefined && { context: { user_id } }) });
const countTokens = () => provider.countTokenRequests("client_credentials", 200);

describe("runs with the agent's own account", () => {
  test("call it with and without a user, with one token that is never stored", async () => {
    verifies("connections.agent-account");
    await setSecret(clientSecret);
    const before = countTokens();
    expect(await Promise.all([call("ada"), call("bob"), call()])).toEqual([clientId, clientId, clientId]);
    expect(countTokens() - before).toBe(1);
    const params = { agent_id: "bot" };
    const { data } = ok(await organisation.call("GET /v1/agents/{agent_id}/connections", { params }));
    expect(data).toEqual([]);
  });

  test("get an error that users connect nothing with it", async () => {
    const refused = await organisation.call("POST /v1/agents/{agent_id}/connections", {
      params: { agent_id: "bot" },
      body: { user_id: "ada", tool: "mail" },
    });
    expect(refused.status).toBe(400);
  });

  test.each([
    ["a secret that is wrong", "does not accept Perch as a client (401)", () => setSecret("another-secret")],
    [
      "a secret that is bound to another host",
      "add it to the hosts of the secret",
      () => setSecret(clientSecret, "https://elsewhere.example"),
    ],
    ["no such secret", "the secret machine does not exist", async () => undefined],
  ])(
    "%s: the run fails with the reason, no call is made, and the secret goes nowhere else",
    async (_, reason, prepare) => {
      verifies("connections.agent-account");
      await prepare();
      const [calls, tokens] = [mail.calls.length, countTokens()];
      const said = await call("ada");
      expect(said).toContain(reason);
      expect(said).not.toContain(clientSecret);
      expect([mail.calls.length - calls, countTokens() - tokens]).toEqual([0, 0]);
    },
  );
});
