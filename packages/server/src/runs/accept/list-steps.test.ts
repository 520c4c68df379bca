import type { AgentDefinitionPatch } from "@perch/contract";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { createScriptedAgent, invokeAgent, invokeInBackground } from "../../../test/support/invoke-calls.ts";
import { getLogPage } from "../../../test/support/log-calls.ts";
import { createSecret, secretValue } from "../../../test/support/secret-calls.ts";
import { parsePublicId } from "../../platform/ids.ts";
import { findSealedContents, listStepRows } from "../record/step-queries.ts";

const operation = "GET /v1/agents/{agent_id}/invocations/{request_id}/steps";

/** `/stock` is away at each run's first call; `/price` knows nothing, for good; `/token` gives away the secret it was sent. */
const shop = await startToolServer(({ path, headers }) => {
  const isFirst =
    shop.calls.filter(({ headers: { "idempotency-key": key } }) => key === headers["idempotency-key"]).length === 1;
  if (path.startsWith("/stock")) return isFirst ? { status: 503 } : { body: "12 packets of jasmine" };
  if (path.startsWith("/token")) return { body: `you sent ${headers.authorization}` };
  return { status: 404, body: "no such price" };
});
afterAll(() => shop.close());
const perch = usePerch({ outboundAllowedPrivateRanges: ["127.0.0.0/8"] }, { withWorker: true });

const tool = (name: string, headers: Record<string, string> = {}) => ({
  type: "http" as const,
  name,
  description: "Of the shop.",
  method: "POST" as const,
  url: `${shop.url}/${name}`,
  headers,
  parameters: { type: "object" as const },
});
const script = [
  {
    reply: "Let me look.",
    tool_calls: [
      { name: "stock", arguments: { sku: "jasmine-1" } },
      { name: "price", arguments: { sku: "jasmine-1" } },
    ],
    tokens: 7,
  },
  { reply: "There are 12.", tokens: 4 },
];
const message = "How much jasmine tea is there?";
const secretTexts = [message, "jasmine-1", "12 packets", "no such price", "There are 12."];

async function runShop(logs: AgentDefinitionPatch["logs"], steps: readonly object[] = script) {
  const organisation = await perch().createOrganisation();
  await createScriptedAgent(organisation, steps);
  const body = { logs, tools: [tool("stock"), tool("price")] };
  ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params: { agent_id: "bot" }, body }));
  const { data, text } = await invokeAgent(perch(), organisation.adminKey, { message });
  expect(data?.request_id, text).toBeDefined();
  return { ...organisation, requestId: data.request_id };
}

const stepsOf = async ({ call }: Organisation, requestId: string, query = {}) =>
  ok(await call(operation, { params: { agent_id: "bot", request_id: requestId }, query: { limit: 100, ...query } }));

/** As a superuser: row-level security would hide the rows from the owner. */
const inDatabase = (statement: string, values: unknown[] = []) =>
  withClient(perch().database.adminUrl, async (client) => (await client.query(statement, values)).rows);
const uuidOf = (requestId: string) => parsePublicId("request", requestId) ?? "";

describe(operation, () => {
  test("has every attempt in order: kind, times, tokens and how it ended", async () => {
    verifies("runs.steps");
    const run = await runShop("shapes");
    const { data, pagination } = await stepsOf(run, run.requestId);
    expect(
      data.map(({ kind, step, call, name, attempt, status }) => [kind, step, call, name, attempt, status]),
    ).toEqual([
      ["model", 1, null, "perch/script", 1, "completed"],
      ["tool", 1, 1, "stock", 1, "retried"],
      ["tool", 1, 2, "price", 1, "failed"],
      ["tool", 1, 1, "stock", 2, "completed"],
      ["model", 2, null, "perch/script", 1, "completed"],
    ]);
    expect(data.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5]);
    expect(data.map(({ tokens }) => tokens)).toEqual([7, null, null, null, 4]);
    expect(data[1]?.retry_after_ms).toBeGreaterThan(0);
    expect(data.map(({ reason }) => reason !== null)).toEqual([false, true, true, false, false]);
    for (const step of data) expect(step.duration_ms).toBeGreaterThanOrEqual(0);
    expect(pagination).toMatchObject({ total: 5, has_more: false });
  });

  test("with shapes, shows sizes and names of fields and no value", async () => {
    verifies("runs.logs-setting");
    const run = await runShop("shapes");
    const { data } = await stepsOf(run, run.requestId);
    expect(data[0]).toMatchObject({
      input: { message: `string(${message.length})`, tools: "array(2)" },
      output: { text: "string(12)", tool_calls: "array(2)" },
    });
    expect(data[3]).toMatchObject({ input: { sku: "string(9)" }, output: { characters: expect.any(Number) } });
    for (const text of secretTexts) expect(JSON.stringify(data)).not.toContain(text);
    expect(await inDatabase("select from run_contents where id = $1", [uuidOf(run.requestId)])).toEqual([]);
  });

  test("with full, shows the input and output of each model and tool; the log and the database do not", async () => {
    const run = await runShop("full");
    const { data } = await stepsOf(run, run.requestId);
    expect(data[0]).toMatchObject({
      input: { instructions: JSON.stringify({ steps: script }), message, tools: ["stock", "price"] },
      output: {
        text: "Let me look.",
        tool_calls: [
          { name: "stock", arguments: { sku: "jasmine-1" } },
          { name: "price", arguments: { sku: "jasmine-1" } },
        ],
      },
    });
    expect(data[1]).toMatchObject({ input: { sku: "jasmine-1" }, output: null });
    expect(data[2]?.output).toContain("no such price");
    expect(data[3]).toMatchObject({
      input: { sku: "jasmine-1" },
      output: expect.stringContaining("12 packets of jasmine"),
    });
    expect(data[4]).toMatchObject({
      input: {
        tool_results: [
          { name: "stock", result: data[3]?.output },
          { name: "price", result: data[2]?.output },
        ],
      },
      output: { text: "There are 12." },
    });
    for (const text of secretTexts) expect(JSON.stringify(await getLogPage(run))).not.toContain(text);
    const [row] = await inDatabase("select sealed from run_contents where id = $1", [uuidOf(run.requestId)]);
    for (const text of secretTexts) expect((row as { sealed: Buffer }).sealed.includes(text)).toBe(false);
  });

  test("with off, shows neither inputs nor outputs, not even their sizes", async () => {
    const run = await runShop("off");
    const { data } = await stepsOf(run, run.requestId);
    expect(data).toHaveLength(5);
    for (const { input, output } of data) expect([input, output]).toEqual([null, null]);
    expect(JSON.stringify(await getLogPage(run))).not.toMatch(/"(input|output)"/);
  });

  test.each(["shapes", "full"] as const)("with %s, a run whose model passes null to a tool ends", async (logs) => {
    const calls = [{ name: "stock", arguments: null }];
    const run = await runShop(logs, [{ tool_calls: calls }, { reply: "done" }]);
    const { data } = await stepsOf(run, run.requestId);
    expect(data.map(({ kind, status }) => [kind, status])).toEqual([
      ["model", "completed"],
      ["tool", "failed"],
      ["model", "completed"],
    ]);
    expect(data[1]?.reason).toContain("must be a JSON object");
  });

  test("the output of a model before a limit ended its run is there too", async () => {
    const run = await perch().createOrganisation();
    await createScriptedAgent(run, script, { max_steps: 1 });
    ok(await run.call("PATCH /v1/agents/{agent_id}", { params: { agent_id: "bot" }, body: { logs: "full" } }));
    await invokeAgent(perch(), run.adminKey, { message });
    const { data } = ok(
      await run.call("GET /v1/agents/{agent_id}/invocations", { params: { agent_id: "bot" }, query: {} }),
    );
    const steps = await stepsOf(run, data[0]?.request_id ?? "");
    expect(steps.data).toMatchObject([{ kind: "model", output: { text: "Let me look." } }]);
  });

  test("is empty until the run has ended", async () => {
    const organisation = await perch().createOrganisation();
    await createScriptedAgent(organisation, [{ reply: "ok", delay_ms: 2000 }]);
    const requestId = await invokeInBackground(perch(), organisation.adminKey, { message });
    await expect
      .poll(
        async () =>
          (await organisation.call(operation, { params: { agent_id: "bot", request_id: requestId }, query: {} }))
            .status,
      )
      .toBe(200);
    expect(await stepsOf(organisation, requestId)).toMatchObject({ data: [], pagination: { total: 0 } });
  });

  test("pages with an exact total", async () => {
    const run = await runShop("full");
    const { data, pagination } = await stepsOf(run, run.requestId, { limit: 2, offset: 3 });
    expect(data.map(({ number }) => number)).toEqual([4, 5]);
    expect(pagination).toEqual({ limit: 2, offset: 3, total: 5, has_more: false });
  });

  test("entries that others add to the run's log are not steps", async () => {
    const run = await runShop("shapes");
    const metadata = { type: "model_call", step: 1, model: "forged/model", environment: "production", version: null };
    const body = { entries: [{ message: "forged", request_id: run.requestId, metadata }] };
    ok(await run.call("POST /v1/agents/{agent_id}/logs", { params: { agent_id: "bot" }, body }));
    const { data } = await stepsOf(run, run.requestId);
    expect(data).toHaveLength(5);
    expect(JSON.stringify(data)).not.toContain("forged");
  });

  test("is as old as the log may be for the tier; without contents, steps have what the log has", async () => {
    const run = await runShop("full");
    const [owner] = await inDatabase("select organisation_id, agent_id from invocations where id = $1", [
      uuidOf(run.requestId),
    ]);
    const { organisation_id: organisationId, agent_id: agentId } = owner as Record<string, string>;
    const key = { organisationId: organisationId ?? "", agentId: agentId ?? "", id: uuidOf(run.requestId) };
    const seenSince = (since: Date) =>
      perch().server.core.db.inOrganisation(key.organisationId, async (trx) => ({
        steps: (await listStepRows(trx, key, since)).length,
        hasContents: (await findSealedContents(trx, key, since)) !== undefined,
      }));
    expect(await seenSince(new Date(0))).toEqual({ steps: 5, hasContents: true });
    expect(await seenSince(new Date(Date.now() + 60_000))).toEqual({ steps: 0, hasContents: false });
    await inDatabase("delete from run_contents where id = $1", [uuidOf(run.requestId)]);
    const { data } = await stepsOf(run, run.requestId);
    expect(data[0]?.input).toMatchObject({ message: `string(${message.length})` });
  });

  test("404 hides runs of other agents and organisations", async () => {
    const run = await runShop("full");
    ok(await run.call("POST /v1/agents", { body: { name: "other", model: "perch/echo" } }));
    const other = await run.call(operation, { params: { agent_id: "other", request_id: run.requestId }, query: {} });
    expectError(other, "not_found");
    const theirs = await runShop("full");
    const unknown = await theirs.call(operation, {
      params: { agent_id: "bot", request_id: run.requestId },
      query: {},
    });
    expectError(unknown, "not_found");
    expectError(
      await run.call(operation, { params: { agent_id: "bot", request_id: "req_1" }, query: {} }),
      "not_found",
    );
  });
});

describe("kept contents", () => {
  test("do not open as those of another run", async () => {
    const [mine, theirs] = [await runShop("full"), await runShop("full")];
    await inDatabase(
      "update run_contents set sealed = (select sealed from run_contents where id = $2) where id = $1",
      [mine.requestId, theirs.requestId].map(uuidOf),
    );
    const answer = await mine.call(operation, { params: { agent_id: "bot", request_id: mine.requestId }, query: {} });
    expectError(answer, "server_error");
    for (const text of secretTexts) expect(JSON.stringify(answer.body)).not.toContain(text);
  });

  test("hold no secret that a tool gave away", async () => {
    const organisation = await perch().createOrganisation();
    await createSecret(organisation, { hosts: [new URL(shop.url).origin] });
    await createScriptedAgent(organisation, [{ tool_calls: [{ name: "token", arguments: {} }] }, { reply: "done" }]);
    const body = { logs: "full" as const, tools: [tool("token", { Authorization: "Bearer {{secret.github_token}}" })] };
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params: { agent_id: "bot" }, body }));
    const { data } = await invokeAgent(perch(), organisation.adminKey, { message });
    const steps = await stepsOf(organisation, data.request_id);
    expect(steps.data[1]?.output).toContain("[secret github_token]");
    expect(JSON.stringify(steps)).not.toContain(secretValue);
  });

  test("count among the bytes that their organisation stores", async () => {
    const bytesOf = async (logs: "shapes" | "full") => {
      const run = await runShop(logs);
      const [row] = await inDatabase(
        "select sum(bytes)::int as bytes from record_bytes where organisation_id = (select organisation_id from invocations where id = $1)",
        [uuidOf(run.requestId)],
      );
      return (row as { bytes: number }).bytes;
    };
    expect((await bytesOf("full")) - (await bytesOf("shapes"))).toBeGreaterThan(500);
  });
});
