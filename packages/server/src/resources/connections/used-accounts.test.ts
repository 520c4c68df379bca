import { type AccountProvider, startAccountProvider } from "@perch/testkit/identity/account-provider.ts";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { accountConfig, accountTool, connectAccount, perchUrl } from "../../../test/support/connected-accounts.ts";
import { ok } from "../../../test/support/contract-client.ts";
import { type ApiNode, type Organisation, usePerch } from "../../../test/support/harness.ts";
import { insertConnection, readConnection, type StoredConnection } from "../../../test/support/stored-connections.ts";
import { depsOf } from "../../compose/core.ts";
import type { Database } from "../../db/database.ts";
import { type ConnectedTool, NotConnectedError, usedConnection } from "../../outbound/tools/find-token.ts";
import { parsePublicId } from "../../platform/ids.ts";
import { createFindToken } from "./find-connection-token.ts";

const perch = usePerch(accountConfig);
let provider: AccountProvider;
beforeAll(async () => {
  provider = await startAccountProvider({ perch: [perchUrl] });
});
afterAll(() => provider.stop());

const url = "https://tools.example/book";
const asUsed = (tool: { type: "http" | "mcp"; name: string; url: string; connection: object }): ConnectedTool => ({
  ...tool,
  connection: usedConnection(tool.connection as never),
});
const bookTool = () => accountTool(url, provider);

/** With counts of its database calls. */
function createFinder({ server: { core } }: ApiNode = perch()) {
  const inOrganisation = vi.fn(core.db.inOrganisation) as unknown as Database["inOrganisation"] & { mock: object };
  const onBehalfOf = vi.fn(core.db.onBehalfOf) as unknown as Database["onBehalfOf"] & { mock: object };
  const refreshGrant = vi.fn(async () => undefined);
  const find = createFindToken({
    ...depsOf(core),
    db: { inOrganisation, onBehalfOf },
    refreshGrant,
    findAgentToken: () => Promise.reject(new Error("no tool has the agent's account")),
  });
  return { find, refreshGrant, reads: vi.mocked(onBehalfOf), writes: vi.mocked(inOrganisation) };
}

async function createOrganisationWithAgent(name = "bot") {
  const organisation = await perch().createOrganisation();
  const { id } = ok(await organisation.call("POST /v1/agents", { body: { name, model: "perch/echo" } })).data;
  const user = (userId: string | null) => ({
    organisationId: parsePublicId("organisation", organisation.id) ?? "",
    agentId: parsePublicId("agent", id) ?? "",
    userId,
  });
  return { organisation, user };
}

const storeConnection = (organisation: Organisation, given: StoredConnection = {}) =>
  insertConnection(perch(), organisation, { tool: bookTool(), configuration: { issuer: provider.issuer }, ...given });

const signal = () => AbortSignal.timeout(10_000);
const refusalOf = async (found: Promise<unknown>): Promise<NotConnectedError> => {
  const error = await found.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(NotConnectedError);
  return error as NotConnectedError;
};
const change = (statement: string, values: readonly unknown[]) =>
  withClient(perch().database.adminUrl, (client) => client.query(statement, [...values]));

describe("finding the token for a call", () => {
  test("it is that of the run's own user, found with one statement and never kept", async () => {
    verifies("connections.own-user");
    const { organisation, user } = await createOrganisationWithAgent();
    const tokens = new Map<string, string>();
    for (const userId of ["ada", "bob"]) {
      const id = await connectAccount(perch(), organisation, { userId, tool: bookTool() });
      tokens.set(userId, (await readConnection(perch(), organisation, id)).grant?.tokens.accessToken ?? "");
    }
    const { find, reads, refreshGrant } = createFinder();
    for (const userId of ["ada", "bob", "ada", "bob"]) {
      const { value } = await find(user(userId), asUsed(bookTool()), { signal: signal() });
      expect(value).toBe(tokens.get(userId));
      expect((await provider.verifyToken(value))?.user).toBe(userId);
    }
    expect(reads).toHaveBeenCalledTimes(4);
    expect(refreshGrant).not.toHaveBeenCalled();
  });

  test("another user, agent, tool or organisation finds none", async () => {
    verifies("connections.own-user", "connections.not-connected");
    const { organisation, user } = await createOrganisationWithAgent();
    const { data: other } = ok(
      await organisation.call("POST /v1/agents", { body: { name: "o", model: "perch/echo" } }),
    );
    const foreign = await createOrganisationWithAgent();
    await storeConnection(organisation);
    const { find } = createFinder();
    const tool = asUsed(bookTool());
    const ada = user("ada");
    const refused = [
      find(user("bob"), tool, { signal: signal() }),
      find(user("Ada"), tool, { signal: signal() }),
      find({ ...ada, agentId: parsePublicId("agent", other.id) ?? "" }, tool, { signal: signal() }),
      find({ ...foreign.user("ada"), agentId: ada.agentId }, tool, { signal: signal() }),
      find(ada, { ...tool, name: "pay" }, { signal: signal() }),
    ];
    for (const refusal of await Promise.all(refused.map(refusalOf))) {
      expect(refusal.message).toContain("has not connected an account");
      expect(refusal.message).toMatch(/`POST \/v1\/agents\/agent_\w+\/connections` with `"tool": "\w+"`/);
      expect(refusal.content).toContain("they have to connect it first");
    }
    expect((await find(ada, tool, { signal: signal() })).generation).toBe(1);
  });

  test("a run without a user finds none, and gets the reason, without a statement", async () => {
    verifies("connections.not-connected");
    const { organisation, user } = await createOrganisationWithAgent();
    await storeConnection(organisation);
    const { find, reads } = createFinder();
    const refusal = await refusalOf(find(user(null), asUsed(bookTool()), { signal: signal() }));
    expect(refusal.message).toContain("`context.user_id`");
    expect(refusal.content).toContain("the user of this conversation is not known");
    expect(reads).not.toHaveBeenCalled();
  });

  test.each(["pending", "revoked", "needs_reauth"] as const)("one that is %s does not count", async (status) => {
    verifies("connections.states");
    const { organisation, user } = await createOrganisationWithAgent();
    await storeConnection(organisation, { status });
    const refusal = await refusalOf(createFinder().find(user("ada"), asUsed(bookTool()), { signal: signal() }));
    const [says, told] =
      status === "needs_reauth"
        ? ["could not use the user's account. The provider refused it.", "connect it again"]
        : ["has not connected an account", "connect it first"];
    expect(refusal.message).toContain(says);
    expect(refusal.content).toContain(told);
  });

  test.each([
    ["another origin", { url: "https://evil.example/book" }],
    ["another port", { url: "https://tools.example:8443/book" }],
    ["another scheme", { url: "http://tools.example/book" }],
    ["an MCP server at the same origin", { type: "mcp" as const, url }],
    ["another issuer", { connection: { account: "user" as const, issuer: "https://login.evil.example" } }],
  ])("a definition that leads to %s since the consent gets no token", async (_, changed) => {
    verifies("connections.own-user");
    const { organisation, user } = await createOrganisationWithAgent();
    await storeConnection(organisation);
    const { find } = createFinder();
    const refusal = await refusalOf(find(user("ada"), { ...asUsed(bookTool()), ...changed }, { signal: signal() }));
    const words = "connection" in changed ? "names another authorization server" : "its address has changed";
    expect(refusal.message).toContain(words);
    expect(refusal.content).toContain("connect it again");
    const elsewhere = { ...asUsed(bookTool()), url: `${url}/another/{path}` };
    expect((await find(user("ada"), elsewhere, { signal: signal() })).generation).toBe(1);
  });

  test.each([
    ["for another user", "user_id = 'bob'", "bob", "book"],
    ["for another tool", "tool = 'pay'", "ada", "pay"],
    ["for another address", "sent_to = 'https://evil.example'", "ada", "book"],
  ])("a row that was changed in the database, %s, does not open", async (_, changed, userId, name) => {
    verifies("connections.own-user");
    const { organisation, user } = await createOrganisationWithAgent();
    await storeConnection(organisation);
    await change(`update connections set ${changed} where organisation_id = $1`, [user(null).organisationId]);
    const tool = { ...asUsed(bookTool()), name, ...(changed.includes("evil") && { url: "https://evil.example/x" }) };
    const logged = vi.spyOn(perch().server.core.logger, "error");
    const refusal = await refusalOf(createFinder().find(user(userId), tool, { signal: signal() }));
    expect(refusal.message).toContain("could not use the user's account");
    expect(logged).toHaveBeenCalledTimes(1);
    logged.mockRestore();
  });

  test("each address that a tool leads to has an account of its own, so that versions do not disturb each other", async () => {
    verifies("connections.own-user");
    const { organisation, user } = await createOrganisationWithAgent();
    const staging = { ...bookTool(), url: "https://staging.example/book" };
    await storeConnection(organisation, { tokens: { accessToken: "of-production" } });
    await storeConnection(organisation, { tool: staging, tokens: { accessToken: "of-staging" } });
    const { find } = createFinder();
    const tokenOf = async (tool: ReturnType<typeof bookTool>) =>
      (await find(user("ada"), asUsed(tool), { signal: signal() })).value;
    expect([await tokenOf(bookTool()), await tokenOf(staging)]).toEqual(["of-production", "of-staging"]);
  });

  test("the last use is written at most once a minute", async () => {
    const { organisation, user } = await createOrganisationWithAgent();
    const id = await storeConnection(organisation);
    const readUse = async (of: Organisation = organisation) => (await readConnection(perch(), of, id)).last_used_at;
    const { find, writes } = createFinder();
    const use = () => find(user("ada"), asUsed(bookTool()), { signal: signal() });
    await use();
    await vi.waitFor(async () => expect(await readUse()).not.toBeNull());
    writes.mockClear();
    const first = await readUse();
    for (let i = 0; i < 3; i++) await use();
    expect(writes).not.toHaveBeenCalled();
    await change("update connections set last_used_at = last_used_at - interval '61 seconds'", []);
    await use();
    await vi.waitFor(async () => expect(Number(await readUse())).toBeGreaterThanOrEqual(Number(first)));
  });
});
