import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { lastUserMessage, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import {
  createScriptedAgent,
  invokeAgent,
  invokeOperation,
  waitForRunRecord,
} from "../../../test/support/invoke-calls.ts";
import type { GiveBack } from "../../fairness/shares.ts";
import { parsePublicId } from "../../platform/ids.ts";

const script = await startScriptServer((call) => ({
  reply: `answer to ${lastUserMessage(call)}`,
  delay_ms: lastUserMessage(call).startsWith("slow") ? 1300 : 0,
}));
const perch = usePerch({ scriptModelUrl: script.url, valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true });
afterAll(() => script.close());

const keyed = (apiKey: string, body: object, key: string, headers = {}) =>
  invokeAgent(perch(), apiKey, body, { headers: { "idempotency-key": key, ...headers } });

/** Holds all that the organisation may hold of the requests that wait for their run. */
function holdWaitingRuns({ id }: Organisation): () => void {
  const share = perch().server.core.shares.of.waitingRuns;
  const organisationId = parsePublicId("organisation", id) ?? "";
  const held: GiveBack[] = [];
  for (let unit = share.take(organisationId); unit; unit = share.take(organisationId)) held.push(unit);
  expect(held.length).toBeGreaterThan(0);
  return () => {
    for (const giveBack of held) giveBack();
  };
}

describe(`${invokeOperation} without Prefer`, () => {
  test("nine calls into one session at once get their result or 504, never 202; a retry with the same key gets the result", async () => {
    verifies("invocation.wait-over", "idempotency.in-flight");
    const organisation = await perch().createOrganisation();
    // The wait is 5 s longer than the time limit, and nine turns take longer than that.
    await createScriptedAgent(organisation, [], { timeout_seconds: 3 });
    const bodies = Array.from({ length: 9 }, (_, i) => ({ message: `slow ${i}`, context: { session_id: "one" } }));
    const ask = (i: number) => keyed(organisation.adminKey, bodies[i] ?? {}, `key-${i}`);
    const answers = await Promise.all(bodies.map((_, i) => ask(i)));
    const unfinished = answers.flatMap(({ status }, i) => (status === 504 ? [i] : []));
    expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 504)).toEqual([]);
    expect(unfinished.length).toBeGreaterThan(0);
    expect(unfinished.length).toBeLessThan(9);
    for (const i of unfinished) {
      const { error, headers } = answers[i] ?? {};
      const id = error?.details?.[0]?.error;
      expect(error).toEqual({
        code: "still_running",
        message: expect.stringMatching(
          /^The run has not ended yet, and goes on\. Repeat the request with the same Idem/,
        ),
        details: [{ field: "request_id", error: expect.stringMatching(/^req_/) }],
      });
      expect(headers?.get("location")).toBe(`/v1/agents/bot/invocations/${id}`);
      const again = await ask(i);
      expect([again.status, again.data]).toMatchObject([200, { request_id: id, response: `answer to slow ${i}` }]);
    }
    const calls = script.calls.filter((call) => lastUserMessage(call).startsWith("slow"));
    expect(new Set(calls.map(lastUserMessage)).size).toBe(9);
  }, 90_000);

  test("504 without an Idempotency-Key names the address of the result, and that a repeated request is another run", async () => {
    verifies("invocation.wait-over");
    const organisation = await perch().createOrganisation();
    await createScriptedAgent(organisation, [], { timeout_seconds: 3 });
    const context = { session_id: "one" };
    const before = Array.from({ length: 8 }, () =>
      invokeAgent(
        perch(),
        organisation.adminKey,
        { message: "slow", context },
        { headers: { prefer: "respond-async" } },
      ),
    );
    await Promise.all(before);
    const { status, error, headers } = await invokeAgent(perch(), organisation.adminKey, { message: "last", context });
    expect([status, error.code]).toEqual([504, "still_running"]);
    expect(error.message).toContain("would start another run");
    const read = await fetch(perch().url + headers.get("location"), {
      headers: { authorization: `Bearer ${organisation.adminKey}` },
    });
    expect(read.status).toBe(200);
    const run = await waitForRunRecord(organisation, error.details?.[0]?.error ?? "");
    expect(run).toMatchObject({ status: "completed", response: "answer to last" });
  }, 90_000);

  test("429 before the run starts while the organisation waits for as many as it may; the same key then starts it", async () => {
    verifies("invocation.waits-bounded");
    const organisation = await perch().createOrganisation("free");
    await createScriptedAgent(organisation, [], { max_concurrent_runs: 1 });
    const giveBack = holdWaitingRuns(organisation);
    onTestFinished(giveBack);
    const ask = (key: string) => keyed(organisation.adminKey, { message: "hello" }, key);
    // Another run is not refused for want of a slot, though the agent may have one run at a time: the first gave its slot back.
    for (const { status, error } of [await ask("once"), await ask("another"), await ask("once")]) {
      expect([status, error.code, error.retry_after]).toEqual([429, "rate_limited", 1]);
      expect(error.message).toContain("requests that wait for their run");
    }
    const list = () =>
      organisation.call("GET /v1/agents/{agent_id}/invocations", { params: { agent_id: "bot" }, query: {} });
    expect(ok(await list()).data).toEqual([]);
    expect(script.calls.filter((call) => lastUserMessage(call) === "hello")).toEqual([]);
    giveBack();
    expect((await ask("once")).data.response).toBe("answer to hello");
  });

  test("a client that accepts 202 gets it at once while the organisation waits for as many runs as it may", async () => {
    verifies("invocation.waits-bounded");
    const organisation = await perch().createOrganisation("free");
    await createScriptedAgent(organisation);
    const giveBack = holdWaitingRuns(organisation);
    onTestFinished(giveBack);
    const { status, data } = await keyed(organisation.adminKey, { message: "later" }, "once", { prefer: "wait=30" });
    expect(status).toBe(202);
    giveBack();
    expect(await waitForRunRecord(organisation, data.request_id)).toMatchObject({ response: "answer to later" });
  });
});
