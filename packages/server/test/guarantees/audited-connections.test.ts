import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { describe, expect, test } from "vitest";
import { confirm, createLink } from "../support/consents.ts";
import { buildRequest, expectError, ok } from "../support/contract-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { addConnectedTool, connectionConfig, consentTo } from "../support/sample-connections.ts";

const perch = usePerch(connectionConfig);
const user_id = "user-whom-no-log-names";

async function createOrganisation(): Promise<Organisation> {
  const organisation = await perch().createOrganisation();
  ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
  await addConnectedTool(organisation);
  return organisation;
}

const listEntries = async ({ call }: Organisation) =>
  ok(await call("GET /v1/audit-log", { query: { limit: 100 } })).data.filter(
    ({ resource_type }) => resource_type === "connection",
  );

/** Every row of these tables, as text. */
const readTables = (...tables: string[]): Promise<string> =>
  withClient(perch().database.adminUrl, async (client) => {
    const texts: string[] = [];
    for (const table of tables)
      texts.push(
        ...(await client.query<{ text: string }>(`select t::text as text from ${table} t`)).rows.map((row) => row.text),
      );
    return texts.join("\n");
  });

const tokenOf = (link: string): string => link.split("/").at(-1) ?? "";

describe("the audit log of a connection", () => {
  test("has who created, confirmed and revoked it, and neither its user, its link nor its code", async () => {
    const organisation = await createOrganisation();
    const { id, link } = await createLink(organisation, { user_id });
    const code = await consentTo(perch(), link);
    expectError(await confirm(organisation, id, { user_id: "user-who-guesses", code: "guessed" }), "conflict");
    const second = await createLink(organisation, { user_id });
    const counted = await consentTo(perch(), second.link);
    ok(await confirm(organisation, id, { user_id, code: counted }));
    const params = { agent_id: "bot", connection_id: id };
    ok(await organisation.call("POST /v1/agents/{agent_id}/connections/{connection_id}/revoke", { params }));

    const entries = await listEntries(organisation);
    expect(entries.filter(({ outcome }) => outcome === "changed").map(({ operation }) => operation)).toEqual([
      "revokeConnection",
      "confirmConnection",
      "createConnection",
      "createConnection",
    ]);
    for (const entry of entries) {
      expect(entry).toMatchObject({ resource_type: "connection", resource: id, actor: "key" });
      expect(entry.agent_id).toMatch(/^agent_/);
    }
    expect(entries.find(({ operation }) => operation === "createConnection")?.details).toEqual({
      fields: ["user_id", "tool"],
    });
    const stored = await readTables("audit_log");
    expect(stored).toContain("confirmConnection");
    for (const secret of [user_id, "user-who-guesses", tokenOf(link), tokenOf(second.link), code, counted])
      expect(stored).not.toContain(secret);
  });

  test("a browser that opens a link leaves no entry", async () => {
    const organisation = await createOrganisation();
    const { link } = await createLink(organisation, { user_id });
    const before = (await listEntries(organisation)).length;
    expect(before).toBe(1);
    expect(await consentTo(perch(), link)).not.toBe("");
    expect(await listEntries(organisation)).toHaveLength(before);
  });
});

test("links and codes are in no table in clear text, including the answers stored for a retry", async () => {
  const organisation = await createOrganisation();
  const params = { agent_id: "bot" };
  const request = { params, body: { user_id, tool: "mail" } };
  const { path, init } = buildRequest("POST /v1/agents/{agent_id}/connections", request);
  const send = async () =>
    (
      await fetch(perch().url + path, {
        ...init,
        headers: {
          ...(init.headers as Record<string, string>),
          authorization: `Bearer ${organisation.adminKey}`,
          "idempotency-key": "link-1",
        },
      })
    ).json() as Promise<{ data: { link: string } }>;
  const { link } = (await send()).data;
  expect((await send()).data.link).toBe(link);
  const code = await consentTo(perch(), link);
  const stored = await readTables("idempotent_answers", "connections", "connection_links", "audit_log", "events");
  expect(stored).toContain(user_id);
  const encoded = (text: string) => [text, Buffer.from(text).toString("hex"), Buffer.from(text).toString("base64")];
  for (const secret of [tokenOf(link), code]) for (const form of encoded(secret)) expect(stored).not.toContain(form);
});
