import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { lastUserMessage, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import { type ApiNode, type Organisation, usePerch } from "../../../test/support/harness.ts";
import {
  createScriptedAgent,
  type InvokeResponse,
  invokeAgent,
  invokeInBackground,
  waitForRunRecord,
} from "../../../test/support/invoke-calls.ts";

/** A message names the model's behaviour. */
const script = await startScriptServer((call) => {
  const message = lastUserMessage(call);
  if (message.startsWith("fail")) return { reply: "No.", fail: "permanent" };
  return { reply: `answer ${script.calls.length}`, delay_ms: message.startsWith("slow") ? 1500 : 100 };
});
const perch = usePerch({ scriptModelUrl: script.url, valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true });
let other: ApiNode;
beforeAll(async () => {
  other = await perch().addApiNode();
});
afterAll(() => script.close());

async function createOrganisationWithAgent(): Promise<Organisation> {
  const organisation = await perch().createOrganisation();
  await createScriptedAgent(organisation);
  return organisation;
}

const keyed = (node: ApiNode, apiKey: string, message: string, key = "once", given = {}): Promise<InvokeResponse> =>
  invokeAgent(node, apiKey, { message }, { headers: { "idempotency-key": key }, ...given });
const replayed = ({ headers }: InvokeResponse): boolean => headers.get("idempotent-replayed") === "true";
const modelCalls = (message: string): number => script.calls.filter((call) => lastUserMessage(call) === message).length;

const recordedRuns = (message: string): Promise<number> =>
  withClient(perch().database.adminUrl, async (client) => {
    const { rows } = await client.query<{ count: string }>("select count(*) from invocations where message = $1", [
      message,
    ]);
    return Number(rows[0]?.count);
  });

describe("an Idempotency-Key on invoke", () => {
  test("50 identical requests at once over two nodes: one run, 50 equal answers, one of them the first", async () => {
    verifies("idempotency.in-flight", "idempotency.replay");
    const { adminKey } = await createOrganisationWithAgent();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => keyed(i % 2 ? other : perch(), adminKey, "fifty at once")),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter((answer) => !replayed(answer))).toHaveLength(1);
    expect(modelCalls("fifty at once")).toBe(1);
    expect(await recordedRuns("fifty at once")).toBe(1);
  });

  test("twenty concurrent requests take one slot: they join the run even if the agent may run only once at a time", async () => {
    const organisation = await perch().createOrganisation();
    await createScriptedAgent(organisation, [], { max_concurrent_runs: 1 });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => keyed(i % 2 ? other : perch(), organisation.adminKey, "one place")),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(modelCalls("one place")).toBe(1);
  });

  test("another body is 409 at once, on any node, while the first is running", async () => {
    const { adminKey } = await createOrganisationWithAgent();
    const first = keyed(perch(), adminKey, "slow and first");
    await expect.poll(() => modelCalls("slow and first")).toBe(1);
    const startedAt = performance.now();
    for (const node of [perch(), other]) {
      const { status, error } = await keyed(node, adminKey, "another body");
      expect(status).toBe(409);
      expect(error).toMatchObject({ code: "conflict", message: expect.stringContaining("another body") });
    }
    expect(performance.now() - startedAt).toBeLessThan(1000);
    expect((await first).status).toBe(200);
    expect(modelCalls("another body")).toBe(0);
  });

  test("another API key is 409: only the key that made the request gets the answer", async () => {
    verifies("idempotency.scope");
    const { adminKey, createKey } = await createOrganisationWithAgent();
    const second = await createKey({ role: "developer" });
    expect((await keyed(perch(), adminKey, "mine")).status).toBe(200);
    expect(await keyed(perch(), second, "mine")).toMatchObject({ status: 409, error: { code: "conflict" } });
  });

  test("other organisations and agents have their own Idempotency-Keys", async () => {
    const one = await createOrganisationWithAgent();
    await createScriptedAgent(one, [], {}, "second");
    const two = await createOrganisationWithAgent();
    expect(replayed(await keyed(perch(), one.adminKey, "shared key"))).toBe(false);
    expect(replayed(await keyed(perch(), two.adminKey, "shared key"))).toBe(false);
    const { status, headers } = await invokeAgent(
      perch(),
      one.adminKey,
      { message: "shared key" },
      { agent: "second", headers: { "idempotency-key": "once" } },
    );
    expect({ status, replayed: headers.get("idempotent-replayed") }).toEqual({ status: 200, replayed: null });
    expect(modelCalls("shared key")).toBe(3);
  });

  test("after the run a replay comes from the record, also while the agent is paused", async () => {
    const { adminKey, call } = await createOrganisationWithAgent();
    const first = await keyed(perch(), adminKey, "kept");
    ok(await call("POST /v1/agents/{agent_id}/pause", { params: { agent_id: "bot" } }));
    await withClient(perch().database.adminUrl, (client) =>
      client.query("update invocations set response = 'as recorded' where message = 'kept'"),
    );
    const again = await keyed(other, adminKey, "kept");
    expect(again.data).toEqual({ ...first.data, response: "as recorded" });
    expect([again.status, replayed(again)]).toEqual([200, true]);
    expect(modelCalls("kept")).toBe(1);
  });

  test("a failed run returns the same failure again, and is not run again", async () => {
    const { adminKey } = await createOrganisationWithAgent();
    const first = await keyed(perch(), adminKey, "fail for good");
    expect(first).toMatchObject({
      status: 422,
      error: { code: "run_failed", message: "The run failed: No.", retryable: false },
    });
    const again = await keyed(other, adminKey, "fail for good");
    expect([again.status, again.text, replayed(again)]).toEqual([422, first.text, true]);
    expect(modelCalls("fail for good")).toBe(1);
  });

  test("joins a run that was started in the background", async () => {
    const organisation = await createOrganisationWithAgent();
    const headers = { "idempotency-key": "once" };
    const id = await invokeInBackground(perch(), organisation.adminKey, { message: "slow background" }, { headers });
    const joined = await keyed(other, organisation.adminKey, "slow background");
    expect([joined.status, joined.data.request_id, replayed(joined)]).toEqual([200, id, true]);
    expect((await waitForRunRecord(organisation, id)).response).toBe(joined.data.response);
    expect(modelCalls("slow background")).toBe(1);
  });

  test("refusals are not stored: the agent missing, then paused, then invoked", async () => {
    verifies("idempotency.failures-not-kept");
    const organisation = await perch().createOrganisation();
    const { adminKey, call } = organisation;
    expect((await keyed(perch(), adminKey, "refused")).status).toBe(404);
    await createScriptedAgent(organisation);
    ok(await call("POST /v1/agents/{agent_id}/pause", { params: { agent_id: "bot" } }));
    expect((await keyed(perch(), adminKey, "refused")).status).toBe(409);
    ok(await call("POST /v1/agents/{agent_id}/resume", { params: { agent_id: "bot" } }));
    const first = await keyed(perch(), adminKey, "refused");
    expect([first.status, replayed(first)]).toEqual([200, false]);
  });

  test("expires after 24 hours", async () => {
    verifies("idempotency.valid-24-hours");
    const { adminKey } = await createOrganisationWithAgent();
    const age = (interval: string) =>
      withClient(perch().database.adminUrl, (client) =>
        client.query(`update invocation_claims set created_at = created_at - interval '${interval}'`),
      );
    const first = await keyed(perch(), adminKey, "a day old");
    await age("23 hours 59 minutes");
    expect(replayed(await keyed(perch(), adminKey, "a day old"))).toBe(true);
    await age("2 minutes");
    const fresh = await keyed(perch(), adminKey, "a day old");
    expect(replayed(fresh)).toBe(false);
    expect(fresh.data.request_id).not.toBe(first.data.request_id);
  });
});
