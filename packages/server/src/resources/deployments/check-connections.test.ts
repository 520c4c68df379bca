import type { AgentProblem } from "@perch/contract";
import {
  type AccountProvider,
  accountClients,
  startAccountProvider,
} from "@perch/testkit/identity/account-provider.ts";
import {
  type OAuthMcpServer,
  type OAuthToolServer,
  startOAuthMcpServer,
  startOAuthToolServer,
} from "@perch/testkit/servers/oauth-mcp-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  accountConfig,
  accountServer,
  accountTool,
  type ConnectedTool,
  perchUrl,
} from "../../../test/support/connected-accounts.ts";
import { ok } from "../../../test/support/contract-client.ts";
import { type Organisation, type Perch, usePerch } from "../../../test/support/harness.ts";
import { createSecret } from "../../../test/support/secret-calls.ts";
import { createAgentWithTools } from "../../../test/support/secret-runs.ts";

const perch = usePerch(accountConfig);
const withoutAddress = usePerch({ ...accountConfig, publicUrl: undefined });
let provider: AccountProvider;
let mail: OAuthMcpServer;
let book: OAuthToolServer;
beforeAll(async () => {
  provider = await startAccountProvider({ perch: [perchUrl] });
  [mail, book] = [await startOAuthMcpServer(provider), await startOAuthToolServer(provider)];
});
afterAll(async () => {
  await Promise.all([mail.close(), book.close()]);
  await provider.stop();
});

const check = async (
  tools: readonly ConnectedTool[],
  prepare: (organisation: Organisation) => Promise<unknown> = async () => undefined,
  node: Perch = perch(),
): Promise<AgentProblem[]> => {
  const organisation = await node.createOrganisation();
  await prepare(organisation);
  await createAgentWithTools(organisation, [...tools] as never);
  const operation = "POST /v1/agents/{agent_id}/check";
  return ok(await organisation.call(operation, { params: { agent_id: "bot" } })).data.problems;
};

const withConnection = (tool: ConnectedTool, change: object) =>
  ({ ...tool, connection: { ...tool.connection, ...change } }) as ConnectedTool;
const machine = () => ({
  account: "agent",
  issuer: provider.issuer,
  client_id: accountClients.machine.clientId,
  client_secret: "{{secret.machine}}",
});
const createMachineSecret = (organisation: Organisation, value: string = accountClients.machine.clientSecret) =>
  createSecret(organisation, { name: "machine", value, hosts: [provider.issuer] });

describe("the check of an agent whose tools are called with accounts", () => {
  test("a provider that can be found is not a problem, and nothing is registered there", async () => {
    verifies("connections.discovery");
    const unconfigured = {
      ...accountServer(mail.url, provider),
      connection: { account: "user", return_urls: ["https://app.example/"] },
    };
    expect(await check([accountTool(book.url, provider), unconfigured as ConnectedTool])).toEqual([]);
    expect(provider.requests.filter((request) => request.startsWith("POST /reg"))).toEqual([]);
    expect(mail.calls).toEqual([]);
  });

  test("a provider that cannot be found is one, with its field and what to do", async () => {
    verifies("connections.discovery");
    const tool = withConnection(accountTool(book.url, provider), { issuer: book.url });
    const [problem, ...others] = await check([tool]);
    expect(others).toEqual([]);
    expect(problem).toMatchObject({ kind: "tool", field: "tools.0.connection" });
    expect(problem?.message).toContain("authorization server");
  });

  test("an installation without a public address cannot be consented to", async () => {
    const [problem, ...others] = await check([accountTool(book.url, provider)], undefined, withoutAddress());
    expect(others).toEqual([]);
    expect(problem).toMatchObject({ kind: "tool", field: "tools.0.connection" });
    expect(problem?.message).toContain("PERCH_PUBLIC_URL");
  });

  test("a client secret that is missing, or not for the provider, is a problem", async () => {
    const tool = withConnection(accountTool(book.url, provider), {
      client_id: accountClients.confidential.clientId,
      client_secret: "{{secret.machine}}",
    });
    const [missing] = await check([tool]);
    expect(missing).toMatchObject({ kind: "secret", field: "tools.0.connection.client_secret" });
    expect(missing?.message).toContain("the secret machine does not exist");
    const elsewhere = { name: "machine", value: "a-secret-value", hosts: ["https://elsewhere.example"] };
    const [refused] = await check([tool], (organisation) => createSecret(organisation, elsewhere));
    expect(refused?.message).toContain("the secret machine is not for");
    expect(await check([tool], createMachineSecret)).toEqual([]);
  });

  test("the agent's own account is tried: its tools are listed, and a wrong client secret is a problem", async () => {
    verifies("connections.agent-account");
    const tools = [
      { ...accountTool(book.url, provider), connection: { ...machine(), resource: book.url } },
      { ...accountServer(mail.url, provider), connection: machine() },
    ] as ConnectedTool[];
    expect(await check(tools, createMachineSecret)).toEqual([]);
    expect(mail.requests.map(({ rpc }) => rpc)).toContain("tools/list");
    const problems = await check(tools, (organisation) => createMachineSecret(organisation, "a-wrong-secret"));
    expect(problems.map(({ field }) => field)).toEqual(["tools.0.connection", "tools.1"]);
    for (const { message } of problems) expect(message).toContain("does not accept Perch as a client");
    expect(JSON.stringify(problems)).not.toContain("a-wrong-secret");
  });
});
