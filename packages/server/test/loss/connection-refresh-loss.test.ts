import { type AccountProvider, startAccountProvider } from "@perch/testkit/identity/account-provider.ts";
import { type OAuthToolServer, startOAuthToolServer } from "@perch/testkit/servers/oauth-mcp-server.ts";
import { startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { accountConfig, accountTool, connectAccount, perchUrl } from "../support/connected-accounts.ts";
import { callThenQuote, callTool, createAgentWithTools } from "../support/secret-runs.ts";
import { readConnection, setAccessExpiry, setClaimEnd } from "../support/stored-connections.ts";
import { usePerchWithWorkerProcesses } from "../support/worker-processes.ts";

const script = await startScriptServer(callThenQuote);
const perchWithWorkers = usePerchWithWorkerProcesses(
  {
    PERCH_SCRIPT_MODEL_URL: script.url,
    PERCH_PUBLIC_URL: perchUrl,
    PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: "127.0.0.0/8",
  },
  accountConfig,
);
let provider: AccountProvider;
let book: OAuthToolServer;
beforeAll(async () => {
  provider = await startAccountProvider({ perch: [perchUrl] });
  book = await startOAuthToolServer(provider);
});
afterAll(async () => {
  await Promise.all([book.close(), script.close()]);
  await provider.stop();
});

test("a worker that is killed while it refreshes: another does it once the claim has ended, and no old token is sent", async () => {
  verifies("connections.refresh");
  const { perch, ensureWorkers, endActiveWorker } = perchWithWorkers();
  await ensureWorkers(2);
  const organisation = await perch.createOrganisation();
  const tool = accountTool(book.url, provider);
  await createAgentWithTools(organisation, [tool]);
  const connection = await connectAccount(perch, organisation, { userId: "ada", tool });
  const context = { user_id: "ada" };
  expect(await callTool(perch, organisation, { context })).toBe('{"user":"ada"}');
  const { grant } = await readConnection(perch, organisation, connection);
  await setAccessExpiry(perch, organisation, connection, -1);

  provider.setTokenEndpoint("hang");
  const sent = book.calls.length;
  const asked = provider.requests.length;
  const waiting = callTool(perch, organisation, { context });
  await expect.poll(() => provider.requests.slice(asked)).toContain("POST /token");
  await endActiveWorker("SIGKILL");
  const claimedUntil = Number((await readConnection(perch, organisation, connection)).refresh_claimed_until);
  // The claim lasts longer than the dead worker could have needed to store its tokens.
  expect(claimedUntil - Date.now()).toBeGreaterThan(45_000);
  const endsAt = Date.now() + 2000;
  await setClaimEnd(perch, organisation, connection, new Date(endsAt));
  provider.setTokenEndpoint("up");

  expect(await waiting).toBe('{"user":"ada"}');
  expect(Date.now()).toBeGreaterThanOrEqual(endsAt);
  expect(provider.countTokenRequests("refresh_token", 200)).toBe(1);
  expect(await readConnection(perch, organisation, connection)).toMatchObject({ status: "active", generation: 2 });
  const tokens = book.calls.slice(sent).map(({ headers }) => String(headers.authorization));
  expect(tokens).toHaveLength(1);
  expect(tokens[0]).not.toContain(grant?.tokens.accessToken);
}, 120_000);
