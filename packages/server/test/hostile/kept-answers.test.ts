import { randomBytes } from "node:crypto";
import { tierLimits } from "@perch/contract";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { expect, test } from "vitest";
import { parsePublicId } from "../../src/platform/ids.ts";
import { ok } from "../support/contract-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { createAgentWithMemory } from "../support/memory-calls.ts";

const perch = usePerch({}, { withWorker: true });

async function query<T>(text: string, organisation: Organisation, ...values: unknown[]): Promise<T[]> {
  const all = [parsePublicId("organisation", organisation.id), ...values];
  return withClient(perch().database.adminUrl, async (client) => (await client.query(text, all)).rows as T[]);
}

async function countBytes(organisation: Organisation) {
  const [row] = await query<{ stored: number; counted: number; contents: number }>(
    `select (select coalesce(sum(length(body)), 0)::int from idempotent_answers where organisation_id = $1)
          + (select coalesce(sum(length(body)), 0)::int from answer_contents where organisation_id = $1) as stored,
            (select count(*)::int from answer_contents where organisation_id = $1) as contents,
            (select coalesce(sum(bytes), 0)::int from record_bytes where organisation_id = $1) as counted`,
    organisation,
  );
  return row ?? expect.fail("no row");
}

async function change(method: string, path: string, { adminKey }: Organisation, key: string, body: object) {
  const response = await fetch(`${perch().url}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify(body),
  });
  const { status, headers } = response;
  return { status, text: await response.text(), replayed: headers.get("idempotent-replayed") };
}

const patch = (organisation: Organisation, key: string, body: object = { temperature: null }) =>
  change("PATCH", "/agents/bot", organisation, key, body);

/** An agent nearly as large as it may be, which does not compress. */
async function createLargeAgent(): Promise<Organisation> {
  const organisation = await perch().createOrganisation("free");
  const description = randomBytes(140_000).toString("base64");
  const tool = { type: "http" as const, name: "look", description: "Looks.", method: "GET" as const };
  const parameters = { type: "object" as const, properties: { at: { type: "string", description } } };
  const body = {
    name: "bot",
    model: "perch/echo",
    instructions: randomBytes(45_000).toString("base64"),
    tools: [{ ...tool, url: "https://a.example", parameters }],
  };
  ok(await organisation.call("POST /v1/agents", { body }));
  return organisation;
}

test("80 changes of nothing to a large agent store its answer once, and each retry gets it byte by byte", async () => {
  const organisation = await createLargeAgent();
  const first = await patch(organisation, "key-0");
  expect(first.status, first.text).toBe(200);
  expect(first.text.length).toBeGreaterThan(240_000);
  // Not all at once: the organisation has a share of the database.
  for (let n = 1; n < 80; n += 5) {
    const others = await Promise.all(Array.from({ length: 5 }, (_, i) => patch(organisation, `key-${n + i}`)));
    expect(others.filter(({ status }) => status !== 200)).toEqual([]);
  }
  const { stored, counted, contents } = await countBytes(organisation);
  expect(stored).toBeLessThan(first.text.length * 1.1);
  expect({ contents, counted }).toEqual({ contents: 1, counted: stored });
  for (const key of ["key-0", "key-1", "key-79"])
    expect(await patch(organisation, key)).toEqual({ status: 200, text: first.text, replayed: "true" });
  expect((await patch(organisation, "changed", { temperature: 1 })).status).toBe(200);
  expect(await countBytes(organisation)).toMatchObject({ contents: 2 });
});

test("a long answer that a release before this one stored is sent again", async () => {
  const organisation = await createLargeAgent();
  const first = await patch(organisation, "old");
  const [row] = await query<{ request: Buffer; organisation_id: string }>(
    "select request, organisation_id from idempotent_answers where organisation_id = $1",
    organisation,
  );
  const context = `${row?.organisation_id} ${row?.request.toString("hex")}`;
  const sealed = perch().server.core.keys.idempotentAnswers.seal(first.text, context);
  await query(
    "update idempotent_answers set content = null, body = $2 where organisation_id = $1",
    organisation,
    sealed,
  );
  await query("delete from answer_contents where organisation_id = $1", organisation);
  expect(await patch(organisation, "old")).toEqual({ status: 200, text: first.text, replayed: "true" });
});

test("an organisation that has used up its bytes stores no new long answer, and can do the rest", async () => {
  const organisation = await createLargeAgent();
  const known = await patch(organisation, "known");
  await query(
    "insert into record_bytes values ($1, (now() at time zone 'utc')::date - 1, 3, $2)",
    organisation,
    tierLimits.free.recordBytes,
  );
  const node = await perch().addApiNode();
  const call = (key: string, body: object) =>
    fetch(`${node.url}/v1/agents/bot`, {
      method: "PATCH",
      headers: {
        authorization: `Bearer ${organisation.adminKey}`,
        "idempotency-key": key,
        "content-type": "application/json",
      },
      body: JSON.stringify(body),
    });
  let attempts = 0;
  const refused = async () => (await call(`new-${++attempts}`, { temperature: attempts % 2 })).status;
  // The node's first request makes it ask how much there is.
  await expect.poll(refused).toBe(409);
  const { contents } = await countBytes(organisation);
  const answer = await call("refused", { temperature: 0.5 });
  expect(answer.status).toBe(409);
  expect(await answer.text()).toContain("This organisation has stored 1,000 MB of");
  expect(await countBytes(organisation)).toMatchObject({ contents });
  // Nothing was changed, and a retry, a short answer and a change without a key need no space.
  expect(
    ok(await organisation.call("GET /v1/agents/{agent_id}", { params: { agent_id: "bot" } })).data.temperature,
  ).not.toBe(0.5);
  expect(await (await call("known", { temperature: null })).text()).toBe(known.text);
  expect((await change("POST", "/keys", organisation, "short", { name: "a key", role: "viewer" })).status).toBe(201);
  const params = { agent_id: "bot" };
  ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params, body: { temperature: 0.25 } }));
});

test("an erasure leaves no long answer of the user, and those of others", async () => {
  const organisation = await perch().createOrganisation();
  await createAgentWithMemory(organisation);
  const remember = (user_id: string | undefined, key: string) =>
    change("POST", "/agents/bot/memory", organisation, key, { content: "x".repeat(4000), ...(user_id && { user_id }) });
  const answers = [await remember("ada", "1"), await remember("ada", "2"), await remember("bob", "3")];
  answers.push(await remember(undefined, "4"));
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  const before = await countBytes(organisation);
  expect(before.contents).toBeGreaterThanOrEqual(3);
  const params = { user_id: "ada" };
  const { id } = ok(await organisation.call("DELETE /v1/users/{user_id}/data", { params })).data;
  const read = async () =>
    ok(await organisation.call("GET /v1/erasures/{erasure_id}", { params: { erasure_id: id } })).data.status;
  await expect.poll(read, { timeout: 30_000 }).toBe("completed");
  expect(await countBytes(organisation)).toMatchObject({ contents: 2 });
  expect(await query("select from idempotent_answers where organisation_id = $1", organisation)).toHaveLength(2);
  expect(await remember("bob", "3")).toMatchObject({ text: answers[2]?.text, replayed: "true" });
});
