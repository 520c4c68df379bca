import {
  type AccountProvider,
  accountClients,
  startAccountProvider,
} from "@perch/testkit/identity/account-provider.ts";
import { startOAuthMcpServer } from "@perch/testkit/servers/oauth-mcp-server.ts";
import { startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accountConfig, perchUrl } from "../../../test/support/connected-accounts.ts";
import { ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { createSecret } from "../../../test/support/secret-calls.ts";
import { callThenQuote, callTool, createAgentWithTools } from "../../../test/support/secret-runs.ts";
import type { FindToken } from "../../outbound/tools/find-token.ts";
import { parsePublicId } from "../../platform/ids.ts";
import { createFindAgentToken } from "./agent-account-tokens.ts";

const script = await startScriptServer(callThenQuote);
const perch = usePerch({ ...accountConfig, scriptModelUrl: script.url }, { withWorker: true });
let provider: AccountProvider;
beforeAll(async () => {
  provider = await startAccountProvider({ perch: [perchUrl] });
});
afterAll(() => Promise.all([provider.stop(), script.close()]));

const machine = () => ({
  account: "agent" as const,
  issuer: provider.issuer,
  client_id: accountClients.machine.clientId,
  client_secret: "{{secret.machine}}",
  scopes: ["mail.read"],
});

async function createOrganisationWithSecret() {
  const organisation = await perch().createOrganisation();
  const value = accountClients.machine.clientSecret;
  await createSecret(organisation, { name: "machine", value, hosts: [provider.issuer] });
  return organisation;
}

let nowMs = Date.now();
function createFinder(organisation: Organisation) {
  const { oauth } = perch().server.core.outbound;
  const find = createFindAgentToken({ oauth, now: () => nowMs });
  const owner = { organisationId: parsePublicId("organisation", organisation.id) ?? "", agentId: null, userId: null };
  const tool = (name: string) => ({
    type: "http" as const,
    name,
    url: "https://tools.example/book",
    connection: { ...machine(), resource: "https://tools.example/book" },
  });
  const fetched = () => provider.countTokenRequests("client_credentials", 200);
  const use = (name = "book", rejected?: Awaited<ReturnType<FindToken>>) =>
    find(owner, tool(name), { signal: AbortSignal.timeout(10_000), ...(rejected && { rejected }) });
  return { use, fetched };
}

describe("the account of an agent", () => {
  test("its token is fetched once for many calls, and again before it ends", async () => {
    verifies("connections.agent-account");
    const { use, fetched } = createFinder(await createOrganisationWithSecret());
    const before = fetched();
    const tokens = await Promise.all(Array.from({ length: 50 }, () => use()));
    expect(new Set(tokens.map(({ value }) => value)).size).toBe(1);
    expect(fetched() - before).toBe(1);
    expect(await provider.verifyToken(tokens[0]?.value ?? "")).toMatchObject({
      user: undefined,
      clientId: accountClients.machine.clientId,
    });
    nowMs += 54 * 60_000;
    expect((await use()).generation).toBe(tokens[0]?.generation);
    nowMs += 2 * 60_000;
    expect((await use()).generation).not.toBe(tokens[0]?.generation);
    expect(fetched() - before).toBe(2);
  });

  test("a token that the tool refused is fetched anew, but not again and again", async () => {
    verifies("connections.agent-account");
    const { use } = createFinder(await createOrganisationWithSecret());
    const first = await use();
    expect(await use("book", first)).toEqual(first);
    nowMs += 31_000;
    const next = await use("book", first);
    expect(next.generation).not.toBe(first.generation);
    expect(await use("book", first)).toEqual(next);
  });

  test("a run without a user calls a server with it, and nothing of it is stored", async () => {
    verifies("connections.agent-account");
    const mail = await startOAuthMcpServer(provider);
    const organisation = await createOrganisationWithSecret();
    await createAgentWithTools(organisation, [{ type: "mcp", name: "mail", url: mail.url, connection: machine() }]);
    expect(await callTool(perch(), organisation, { tool: "mail_whoami" })).toBe(accountClients.machine.clientId);
    const listed = ok(
      await organisation.call("GET /v1/agents/{agent_id}/connections", { params: { agent_id: "bot" }, query: {} }),
    );
    expect(listed.data).toEqual([]);
    await mail.close();
  });

  test("a client secret that is not for the provider is not sent, and the run reports it", async () => {
    verifies("connections.agent-account");
    const organisation = await perch().createOrganisation();
    const value = accountClients.machine.clientSecret;
    await createSecret(organisation, { name: "machine", value, hosts: ["https://elsewhere.example"] });
    const tool = {
      ...{ type: "http" as const, name: "book", description: "", method: "POST" as const },
      ...{ url: "https://tools.example/book", parameters: { type: "object" as const }, connection: machine() },
    };
    await createAgentWithTools(organisation, [tool]);
    const before = provider.requests.filter((request) => request === "POST /token").length;
    expect(await callTool(perch(), organisation, {})).toContain("the secret machine is not for");
    expect(provider.requests.filter((request) => request === "POST /token").length).toBe(before);
  });
});
