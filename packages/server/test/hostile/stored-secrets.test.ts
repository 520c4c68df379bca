import { createHash } from "node:crypto";
import { isRepeatable, type OperationKey, operationKeys } from "@perch/contract";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { parsePublicId } from "../../src/platform/ids.ts";
import { createLogger } from "../../src/platform/logger.ts";
import { createFindSecrets } from "../../src/resources/secrets/find-stored-secrets.ts";
import { buildRequest, expectError, ok } from "../support/contract-client.ts";
import { usePerch } from "../support/harness.ts";
import { createOrganisationWithSample } from "../support/operation-samples.ts";
import { createSecret, secretValue } from "../support/secret-calls.ts";

const perch = usePerch();
const update = "PATCH /v1/secrets/{secret_name}";
const params = { secret_name: "github_token" };

const findStored = async (organisationId: string) => {
  const { core } = perch().server;
  const find = createFindSecrets({
    db: core.db,
    sealer: core.keys.secrets,
    logger: createLogger("silent"),
    now: core.nowMs,
  });
  const owner = { organisationId: parsePublicId("organisation", organisationId) ?? "", agentId: null };
  return (await find(owner, ["github_token"])).get("github_token");
};

describe("a stored secret cannot be sent elsewhere by a caller who does not know its value", () => {
  test.each([
    ["another host", ["evil.example"]],
    ["a host more", ["api.github.com", "evil.example"]],
    ["another port", ["api.github.com:8443"]],
    ["another scheme", ["http://api.github.com"]],
    ["a host below", ["sub.api.github.com"]],
    ["a host above", ["github.com"]],
  ])("400 for %s without the value, and nothing is changed", async (_, hosts) => {
    verifies("secrets.hosts");
    const organisation = await perch().createOrganisation();
    const before = await createSecret(organisation);
    const { details } = expectError(await organisation.call(update, { params, body: { hosts } }), "invalid_request");
    expect(details).toEqual([{ field: "value", error: expect.stringContaining("needs `value` again") }]);
    expect(ok(await organisation.call("GET /v1/secrets/{secret_name}", { params })).data).toEqual(before);
  });

  test("nor by removing a host and adding it again", async () => {
    verifies("secrets.hosts");
    const organisation = await perch().createOrganisation();
    await createSecret(organisation, { hosts: ["a.example", "b.example"] });
    ok(await organisation.call(update, { params, body: { hosts: ["a.example"] } }));
    const again = await organisation.call(update, { params, body: { hosts: ["a.example", "b.example"] } });
    expectError(again, "invalid_request");
  });

  test("nor by changes at the same time: the hosts are those of one of them, and the value opens", async () => {
    verifies("secrets.hosts");
    const organisation = await perch().createOrganisation();
    await createSecret(organisation, { hosts: ["a.example", "b.example"] });
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        organisation.call(update, { params, body: { hosts: [i % 2 ? "a.example" : "b.example"] } }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 400]));
    const found = await findStored(organisation.id);
    expect(found?.value).toBe(secretValue);
    const kept = answers.find(({ status }) => status === 200);
    expect(kept && found?.origins).toEqual(kept && "data" in kept.body ? [`https://${kept.body.data.hosts[0]}`] : []);
  });

  test("nor by a key that may only write, and no key reads it", async () => {
    verifies("secrets.permissions");
    const organisation = await perch().createOrganisation();
    await createSecret(organisation);
    const developer = await organisation.createKey({ permissions: ["read", "write", "delete"] });
    const body = { name: "other", value: "of the intruder", hosts: ["evil.example"] };
    const answers = [
      await organisation.call("POST /v1/secrets", { body }, developer),
      await organisation.call(update, { params, body: { value: body.value, hosts: body.hosts } }, developer),
      await organisation.call("DELETE /v1/secrets/{secret_name}", { params }, developer),
    ];
    for (const answer of answers) expectError(answer, "forbidden");
    expect((await findStored(organisation.id))?.value).toBe(secretValue);
  });
});

const ofSecrets = operationKeys.filter((key) => /\/secrets(\/|$)/.test(key));
/** Every part of the value that is long enough not to stand in an answer by chance. */
const partLength = 6;
const parts = Array.from({ length: secretValue.length - partLength + 1 }, (_, i) =>
  secretValue.slice(i, i + partLength),
);
const findParts = (text: string): string[] => {
  const forms = [text, Buffer.from(text).toString("latin1")];
  return parts.filter((part) =>
    [part, Buffer.from(part).toString("hex"), encodeURIComponent(part)].some((form) =>
      forms.some((of) => of.includes(form)),
    ),
  );
};

describe("the value of a secret", () => {
  test("the search below finds a part of it", () => {
    expect(ofSecrets).toHaveLength(10);
    expect(findParts(`"${secretValue.slice(3, 9)}"`)).toHaveLength(1);
  });

  test.each(ofSecrets)("no part of it stands in an answer of %s", async (key) => {
    verifies("secrets.write-only");
    const isCreate = key.startsWith("POST");
    const ofAgent = key.includes("{agent_id}");
    const organisation = await perch().createOrganisation();
    ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    if (!isCreate) await createSecret(organisation, { ...(ofAgent && { agent: "bot" }) });
    const requests = [
      {},
      { value: secretValue },
      { name: "github_token", value: secretValue, hosts: ["api.github.com"] },
      { name: "github_token", value: `${secretValue}\n`, hosts: ["not a host"] },
      { hosts: [secretValue] },
      { [secretValue]: 1 },
    ];
    const statuses: number[] = [];
    for (const body of requests) {
      const sent = buildRequest(key, {
        params: { ...params, agent_id: "bot" },
        ...(!/^(GET|DELETE)/.test(key) && { body }),
      });
      const headers = { ...(sent.init.headers as object), authorization: `Bearer ${organisation.adminKey}` };
      const response = await fetch(perch().url + sent.path, { ...sent.init, headers });
      statuses.push(response.status);
      // The error repeats the name of a field that does not exist, because it is not a value.
      const text = (await response.text()) + JSON.stringify([...response.headers]);
      if (!(secretValue in body)) expect(findParts(text), JSON.stringify(body)).toEqual([]);
    }
    expect(statuses.some((status) => status < 300)).toBe(true);
  });

  test.each(ofSecrets.filter(isRepeatable))(
    "%s leaves no part of it in any row, including rows for retries",
    async (key) => {
      verifies("secrets.write-only", "secrets.sealed");
      const { organisation, first } = await createOrganisationWithSample(perch(), key);
      const body = { ...(first as { body: object }).body, value: secretValue };
      await sendOnce(organisation.adminKey, key, { ...first, body });
      await withClient(perch().database.adminUrl, async (client) => {
        const { rows: tables } = await client.query<{ name: string }>(
          "select quote_ident(relname) as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'",
        );
        let read = "";
        for (const { name } of tables)
          read += JSON.stringify((await client.query(`select t::text from ${name} t`)).rows);
        expect(read).toContain("github_token");
        expect(findParts(read)).toEqual([]);
      });
    },
  );

  test.each(ofSecrets.filter(isRepeatable))(
    "a guess cannot be tested with the rows that %s stores for retries",
    async (key) => {
      verifies("secrets.sealed");
      const { organisation, first } = await createOrganisationWithSample(perch(), key);
      const { body } = first as { body: Record<string, unknown> };
      await sendOnce(organisation.adminKey, key, first);
      const canonical = JSON.stringify(Object.fromEntries(Object.entries(body).sort(([a], [b]) => (a < b ? -1 : 1))));
      const { rows } = await withClient(perch().database.adminUrl, (client) =>
        client.query<{ fingerprint: Buffer }>("select fingerprint from idempotent_answers where organisation_id = $1", [
          parsePublicId("organisation", organisation.id),
        ]),
      );
      expect(rows).toHaveLength(1);
      expect(rows[0]?.fingerprint.toString("hex")).not.toBe(createHash("sha256").update(canonical).digest("hex"));
    },
  );
});

async function sendOnce(apiKey: string, key: OperationKey, request: object): Promise<void> {
  const { path, init } = buildRequest(key, request);
  const headers = { ...(init.headers as object), authorization: `Bearer ${apiKey}`, "idempotency-key": "once" };
  const response = await fetch(perch().url + path, { ...init, headers });
  expect(response.status).toBeLessThan(300);
}
