import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { type HttpToolAnswer, startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, describe, expect, test } from "vitest";
import { parsePublicId } from "../../src/platform/ids.ts";
import { ok } from "../support/contract-client.ts";
import { deploy } from "../support/deployment-calls.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { createSecret, secretValue } from "../support/secret-calls.ts";
import { bearer, callThenQuote, callTool, createAgentWithTools, hostOf, httpTool } from "../support/secret-runs.ts";

const script = await startScriptServer(callThenQuote);
/** Secrets may go to the server `tool`, and not to `elsewhere`. */
let answer: HttpToolAnswer | undefined;
const [tool, elsewhere] = await Promise.all([startToolServer(() => answer), startToolServer()]);
afterAll(() => Promise.all([script.close(), tool.close(), elsewhere.close()]));
const perch = usePerch(
  { scriptModelUrl: script.url, outboundAllowedPrivateRanges: ["127.0.0.0/8"] },
  { withWorker: true },
);

const atTool = [hostOf(tool.url)];
const notSent = (port: string) => `The tool book cannot be called: the secret github_token is not for ${port}.`;

/** An organisation with a secret for the tool, and an agent that sends it there. */
async function setUp(url = tool.url, hosts = atTool): Promise<Organisation> {
  const organisation = await perch().createOrganisation();
  await createSecret(organisation, { hosts });
  await createAgentWithTools(organisation, [httpTool(url, { headers: bearer })]);
  answer = undefined;
  tool.calls.length = 0;
  elsewhere.calls.length = 0;
  return organisation;
}
const sentTo = (server: typeof tool) => server.calls.map(({ headers }) => headers.authorization);
const params = { agent_id: "bot" };
const named = { secret_name: "github_token" };

describe("a secret and its hosts", () => {
  test("it is sent to an allowed host", async () => {
    verifies("secrets.sent");
    const organisation = await setUp();
    expect(await callTool(perch(), organisation)).toBe('{"ok":true}');
    expect(sentTo(tool)).toEqual([`Bearer ${secretValue}`]);
  });

  test.each([301, 302, 303, 307, 308])("a redirect (%i) to another host is not followed", async (status) => {
    verifies("secrets.sent");
    const organisation = await setUp();
    answer = { status, headers: { location: `${elsewhere.url}/?${secretValue}` } };
    expect(await callTool(perch(), organisation)).toBe("The tool book answers with a redirect, which is not followed.");
    expect(tool.calls).toHaveLength(1);
    expect(elsewhere.calls).toEqual([]);
  });

  test("a tool whose address was changed gets nothing, and the answer names the remedy", async () => {
    verifies("secrets.sent");
    const organisation = await setUp();
    const tools = [httpTool(`${elsewhere.url}/x`, { headers: bearer })];
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params, body: { tools } }));
    const result = await callTool(perch(), organisation);
    expect(result).toContain(notSent(hostOf(elsewhere.url)));
    expect(result).toContain("Correct the address, or add it to the hosts of the secret.");
    expect([...tool.calls, ...elsewhere.calls]).toEqual([]);
  });

  test("another port of the same host gets nothing", async () => {
    const organisation = await setUp(tool.url, [hostOf(elsewhere.url)]);
    expect(await callTool(perch(), organisation)).toContain(notSent(hostOf(tool.url)));
    expect(tool.calls).toEqual([]);
  });

  test("the same host and port without encryption gets nothing", async () => {
    const organisation = await setUp(tool.url, [new URL(tool.url).host]);
    expect(await callTool(perch(), organisation)).toContain(notSent(hostOf(tool.url)));
    expect(tool.calls).toEqual([]);
  });

  test("another name of the same machine gets nothing", async () => {
    const organisation = await setUp(tool.url.replace("127.0.0.1", "localhost"));
    expect(await callTool(perch(), organisation)).toContain("the secret github_token is not for http://localhost:");
    expect(tool.calls).toEqual([]);
  });

  test("an address in another spelling is the same address: only the called address counts", async () => {
    const organisation = await setUp(tool.url.replace("127.0.0.1", "0x7f.1"));
    await callTool(perch(), organisation);
    expect(sentTo(tool)).toEqual([`Bearer ${secretValue}`]);
  });

  test("a secret that was deleted is not sent any more", async () => {
    const organisation = await setUp();
    ok(await organisation.call("DELETE /v1/secrets/{secret_name}", { params: named }));
    const result = await callTool(perch(), organisation);
    expect(result).toContain("The tool book cannot be called: the secret github_token does not exist. Create it");
    expect(tool.calls).toEqual([]);
  });
});

describe("a secret of others", () => {
  test("another agent's is not sent", async () => {
    const organisation = await perch().createOrganisation();
    for (const name of ["bot", "other"])
      await createAgentWithTools(organisation, [httpTool(tool.url, { headers: bearer })], name);
    await createSecret(organisation, { hosts: atTool, agent: "other" });
    tool.calls.length = 0;
    expect(await callTool(perch(), organisation)).toContain("the secret github_token does not exist");
    expect(tool.calls).toEqual([]);
    await callTool(perch(), organisation, { agent: "other" });
    expect(sentTo(tool)).toEqual([`Bearer ${secretValue}`]);
  });

  test("another organisation's is not sent", async () => {
    await setUp();
    const other = await perch().createOrganisation();
    await createAgentWithTools(other, [httpTool(tool.url, { headers: bearer })]);
    expect(await callTool(perch(), other)).toContain("the secret github_token does not exist");
    expect(tool.calls).toEqual([]);
  });

  test.each([
    ["under another name", "name = 'github_token'", "copied_from"],
    ["with other hosts", "hosts = array[$2]", "github_token"],
  ])("a row that an attacker changed in the database, %s, does not open", async (_, change, name) => {
    verifies("secrets.sealed");
    const organisation = await perch().createOrganisation();
    const [mine] = atTool;
    await createSecret(organisation, { name, hosts: name === "github_token" ? ["bank.example"] : atTool });
    await createAgentWithTools(organisation, [httpTool(tool.url, { headers: bearer })]);
    await withClient(perch().database.adminUrl, (client) =>
      client.query(`update secrets set ${change} where organisation_id = $1 and $2 <> ''`, [
        parsePublicId("organisation", organisation.id),
        mine,
      ]),
    );
    tool.calls.length = 0;
    expect(await callTool(perch(), organisation)).toContain("the secret github_token does not exist");
    expect(tool.calls).toEqual([]);
  });

  test("a row that was copied into another organisation does not open there", async () => {
    const organisation = await setUp();
    const thief = await perch().createOrganisation();
    await createAgentWithTools(thief, [httpTool(tool.url, { headers: bearer })]);
    await withClient(perch().database.adminUrl, (client) =>
      client.query(
        `insert into secrets (organisation_id, name, sealed_value, hosts)
         select $2, name, sealed_value, hosts from secrets where organisation_id = $1`,
        [organisation, thief].map(({ id }) => parsePublicId("organisation", id)),
      ),
    );
    expect(await callTool(perch(), thief)).toContain("the secret github_token does not exist");
    expect(tool.calls).toEqual([]);
  });
});

describe("a version that is older than the secret", () => {
  test("with the old address, sends nothing there after the hosts have changed", async () => {
    const organisation = await setUp();
    expect((await deploy(organisation, { version: "v1" })).status).toBe("active");
    const body = { value: "another-value", hosts: [hostOf(elsewhere.url)] };
    ok(await organisation.call("PATCH /v1/secrets/{secret_name}", { params: named, body }));
    const tools = [httpTool(elsewhere.url, { headers: bearer })];
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params, body: { tools } }));
    tool.calls.length = 0;
    expect(await callTool(perch(), organisation, { context: { environment: "production" } })).toContain(
      notSent(hostOf(tool.url)),
    );
    expect(tool.calls).toEqual([]);
    await callTool(perch(), organisation, { context: { environment: "draft" } });
    expect(sentTo(elsewhere)).toEqual(["Bearer another-value"]);
  });

  test("that never referred to a secret, sends none", async () => {
    const organisation = await perch().createOrganisation();
    await createAgentWithTools(organisation, [httpTool(tool.url)]);
    expect((await deploy(organisation, { version: "v1" })).status).toBe("active");
    await createSecret(organisation, { hosts: atTool });
    const tools = [httpTool(tool.url, { headers: bearer })];
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params, body: { tools } }));
    tool.calls.length = 0;
    await callTool(perch(), organisation, { context: { environment: "production" } });
    expect(sentTo(tool)).toEqual([undefined]);
  });
});

describe("references that others write", () => {
  const reference = "{{secret.github_token}}";

  test("in the arguments of a model, they are sent as they are", async () => {
    verifies("secrets.templates");
    const organisation = await setUp();
    await callTool(perch(), organisation, { arguments: { [reference]: { deep: [reference] } } });
    expect(JSON.parse(tool.calls[0]?.body ?? "")).toEqual({ [reference]: { deep: [reference] } });
  });

  test("in a path or a query that the model fills, they stay as they are, and a fixed parameter wins", async () => {
    verifies("secrets.templates");
    const organisation = await perch().createOrganisation();
    await createSecret(organisation, { hosts: atTool });
    const query = { key: reference };
    await createAgentWithTools(organisation, [httpTool(`${tool.url}/of/{key}`, { method: "GET", query })]);
    tool.calls.length = 0;
    await callTool(perch(), organisation, { arguments: { key: reference, other: reference } });
    const { pathname, searchParams } = new URL(tool.calls[0]?.path ?? "", tool.url);
    expect(decodeURIComponent(pathname)).toBe(`/of/${reference}`);
    expect([...searchParams]).toEqual([
      ["other", reference],
      ["key", secretValue],
    ]);
    tool.calls.length = 0;
    const tools = [httpTool(`${tool.url}/?key=public`, { method: "GET", query })];
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params, body: { tools } }));
    await callTool(perch(), organisation, { arguments: { key: "mine", query } });
    expect(new URL(tool.calls[0]?.path ?? "", tool.url).searchParams.getAll("key")).toEqual([secretValue]);
  });

  test("in a value, they are sent as they are", async () => {
    verifies("secrets.templates");
    const organisation = await perch().createOrganisation();
    await createSecret(organisation, { hosts: atTool, value: "{{secret.other}}" });
    await createSecret(organisation, { hosts: atTool, name: "other", value: "never-sent" });
    await createAgentWithTools(organisation, [httpTool(tool.url, { headers: bearer })]);
    tool.calls.length = 0;
    await callTool(perch(), organisation);
    expect(sentTo(tool)).toEqual(["Bearer {{secret.other}}"]);
  });

  test("in a message, a session's history and a memory, they stay as they are", async () => {
    const organisation = await setUp();
    const body = { memory: { recall: true, remember: true } };
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params, body }));
    const given = { arguments: { note: reference }, context: { session_id: "s", user_id: reference } };
    for (let turn = 0; turn < 2; turn++) expect(await callTool(perch(), organisation, given)).toBe('{"ok":true}');
    const seen = script.calls.filter(({ messages }) => JSON.stringify(messages).includes(reference));
    expect(seen.length).toBeGreaterThanOrEqual(4);
    expect(JSON.stringify(seen)).not.toContain(secretValue);
    expect(tool.calls.map(({ body: sent }) => sent).join()).not.toContain(secretValue);
  });
});
