import { setTimeout as sleep } from "node:timers/promises";
import type { AgentDefinitionPatch } from "@perch/contract";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { lastUserMessage, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { sql } from "kysely";
import { afterAll, describe, expect, test } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import { decide, waitForApprovals } from "../../../test/support/decisions.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { invokeInBackground, waitForRunRecord } from "../../../test/support/invoke-calls.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import { parsePublicId } from "../../platform/ids.ts";

/** The model's replies to this message, step by step; after that "done". */
const replies = new Map<string, (step: number) => object | undefined | Promise<object>>();
const script = await startScriptServer(
  async (call) => (await replies.get(lastUserMessage(call))?.(call.step)) ?? { reply: "done" },
);
afterAll(() => script.close());
const tool = await startToolServer(({ body }) => ({ body: { did: JSON.parse(body) } }));
afterAll(() => tool.close());

const perch = usePerch(
  {
    scriptModelUrl: script.url,
    outboundAllowedPrivateRanges: ["127.0.0.0/8"],
    valkeyUrl: serviceUrl("PERCH_VALKEY_URL"),
  },
  { withWorker: true },
);

type Tools = NonNullable<AgentDefinitionPatch["tools"]>;
const refund = (approval: Extract<Tools[number], { type: "http" }>["approval"], name = "refund"): Tools[number] => ({
  type: "http",
  name,
  description: "Pays money back.",
  method: "POST",
  url: tool.url,
  parameters: { type: "object", properties: { amount: { type: "number" } } },
  approval,
});
const callTools = (...calls: readonly (readonly [string, unknown])[]) => ({
  tool_calls: calls.map(([name, input]) => ({ name, arguments: input })),
});
const onFirstStep = (reply: object) => (step: number) => (step === 1 ? reply : undefined);

async function createAgent(tools: Tools, more: Partial<AgentDefinitionPatch> = {}): Promise<Organisation> {
  const organisation = await perch().createOrganisation();
  ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/script", tools, ...more } }));
  return organisation;
}

const start = (organisation: Organisation, message: string, context = {}) =>
  invokeInBackground(perch(), organisation.adminKey, { message, context });

/** The arguments of the tool's calls for this run, in the order of the calls' numbers. */
const callsOf = (requestId: string) =>
  tool.calls
    .filter(({ headers }) => headers["x-request-id"] === requestId)
    .map(
      ({ headers, body }) =>
        [String(headers["idempotency-key"]).slice(requestId.length + 1), JSON.parse(body)] as const,
    )
    .sort(([a], [b]) => a.localeCompare(b));

const toolResultsAt = (step: number, message: string) =>
  script.calls
    .find((call) => lastUserMessage(call) === message && call.step === step)
    ?.messages.filter(({ role }) => role === "tool");

const inOrganisation = <T>({ id }: Organisation, work: (trx: OrganisationTransaction) => Promise<T>) =>
  perch().server.core.db.inOrganisation(parsePublicId("organisation", id) ?? id, work);

/** Allows any process to start the ready runs. */
const runNow = (organisation: Organisation) =>
  inOrganisation(organisation, (trx) => sql`update waiting_runs set send_after = now()`.execute(trx));

/** Also of a deleted agent's run, which the API does not show. */
const statusOf = (organisation: Organisation, requestId: string) =>
  inOrganisation(organisation, async (trx) => {
    const id = parsePublicId("request", requestId) ?? "";
    return (await trx.selectFrom("invocations").select("status").where("id", "=", id).executeTakeFirst())?.status;
  });

const isOver = (status: string) => status !== "running" && status !== "waiting";

describe("a run that waits for a person", () => {
  test("is cut before the call, and makes it once after it is approved", async () => {
    verifies("approvals.suspend");
    const message = "pay back 500";
    replies.set(message, onFirstStep(callTools(["refund", { amount: 500 }])));
    const organisation = await createAgent([refund({ when: [{ argument: "amount", op: "gt", value: 100 }] })]);
    const id = await start(organisation, message);
    const [approval] = await waitForApprovals(perch(), organisation, id);
    expect(approval).toMatchObject({ tool: "refund", call: 1, kind: "tool", why: "`amount` is more than 100." });
    const waiting = await waitForRunRecord(organisation, id, (status) => status === "waiting");
    expect(waiting).toMatchObject({ status: "waiting", response: null, finished_at: null, steps: 1 });
    expect(callsOf(id)).toEqual([]);
    await decide(perch(), organisation, approval?.id ?? "", { verdict: "approve" });
    const ended = await waitForRunRecord(organisation, id, isOver);
    expect(ended).toMatchObject({ status: "completed", response: "done", steps: 2 });
    expect(callsOf(id)).toEqual([["1.1", { amount: 500 }]]);
    expect(ended.timeline.map(({ message: line }) => line)).toEqual([
      "Model call: perch/script",
      "Waits for a person: refund",
      "Approved: refund",
      "Tool call: refund",
      "Model call: perch/script",
      "Run completed",
    ]);
  });

  test("informs the model that a person rejected the call, and why, and makes no call", async () => {
    const message = "pay back everything";
    replies.set(message, onFirstStep(callTools(["refund", { amount: 9 }])));
    const organisation = await createAgent([refund("always")]);
    const id = await start(organisation, message);
    const [approval] = await waitForApprovals(perch(), organisation, id);
    await decide(perch(), organisation, approval?.id ?? "", { verdict: "reject", reason: "Not on a Sunday." });
    expect(await waitForRunRecord(organisation, id, isOver)).toMatchObject({ status: "completed" });
    expect(callsOf(id)).toEqual([]);
    expect(toolResultsAt(2, message)).toMatchObject([
      { failed: true, content: 'A person rejected this call, and it was not made. The reason: "Not on a Sunday."' },
    ]);
  });

  test("two calls of one reply are decided in the opposite order, and each result is at its own call", async () => {
    verifies("approvals.decisions");
    const message = "three at once";
    const calls = callTools(["refund", { amount: 1 }], ["look_up", { order: 2 }], ["refund", { amount: 3 }]);
    replies.set(message, onFirstStep(calls));
    const organisation = await createAgent([refund("always"), refund("never", "look_up")]);
    const id = await start(organisation, message);
    const [first, second] = await waitForApprovals(perch(), organisation, id, 2);
    expect([first?.call, second?.call]).toEqual([1, 3]);
    // Calls that need no approval are made before the run waits.
    expect(callsOf(id)).toEqual([["1.2", { order: 2 }]]);
    await decide(perch(), organisation, second?.id ?? "", { verdict: "approve", arguments: { amount: 2.5 } });
    expect((await waitForRunRecord(organisation, id, () => true)).status).toBe("waiting");
    await decide(perch(), organisation, first?.id ?? "", { verdict: "approve" });
    expect(await waitForRunRecord(organisation, id, isOver)).toMatchObject({ status: "completed" });
    expect(callsOf(id)).toEqual([
      ["1.1", { amount: 1 }],
      ["1.2", { order: 2 }],
      ["1.3", { amount: 2.5 }],
    ]);
    expect(toolResultsAt(2, message)?.map(({ content }) => content)).toEqual([
      '{"did":{"amount":1}}',
      '{"did":{"order":2}}',
      '[A person changed the arguments of this call before approving it.]\n{"did":{"amount":2.5}}',
    ]);
  });

  test("waits again if a later reply needs a person too", async () => {
    const message = "again and again";
    replies.set(message, (step) => (step <= 2 ? callTools(["refund", { amount: step }]) : undefined));
    const organisation = await createAgent([refund("always")]);
    const id = await start(organisation, message);
    for (let round = 1; round <= 2; round++) {
      const [approval] = await waitForApprovals(perch(), organisation, id);
      await decide(perch(), organisation, approval?.id ?? "", { verdict: "approve" });
    }
    const ended = await waitForRunRecord(organisation, id, isOver);
    expect(ended).toMatchObject({ status: "completed", steps: 3 });
    expect(callsOf(id)).toEqual([
      ["1.1", { amount: 1 }],
      ["2.1", { amount: 2 }],
    ]);
  });

  test("a question is answered by a person, and the answer is the result", async () => {
    verifies("approvals.questions");
    const message = "ask a person";
    replies.set(message, onFirstStep(callTools(["ask_person", { question: "Which colour?" }])));
    const organisation = await createAgent([
      { type: "ask_person", name: "ask_person", description: "When unsure.", answer: { type: "string" } },
    ]);
    const id = await start(organisation, message);
    const [question] = await waitForApprovals(perch(), organisation, id);
    expect(question).toMatchObject({ kind: "question", tool: "ask_person" });
    await decide(perch(), organisation, question?.id ?? "", { verdict: "answer", answer: "green" });
    expect(await waitForRunRecord(organisation, id, isOver)).toMatchObject({ status: "completed" });
    expect(toolResultsAt(2, message)).toMatchObject([{ content: "green", failed: false }]);
  });

  test("holds back a turn of its session that was accepted before: it ends with the reason, or is queued", async () => {
    verifies("approvals.session");
    for (const mode of ["refuse", "queue"] as const) {
      const message = `first of ${mode}`;
      const isSent = Promise.withResolvers<void>();
      replies.set(message, async (step) => {
        if (step > 1) return { reply: "done" };
        await isSent.promise;
        return callTools(["refund", { amount: 1 }]);
      });
      const organisation = await createAgent([refund("always")], { approvals: { while_waiting: mode } });
      const id = await start(organisation, message, { session_id: "s" });
      const next = await start(organisation, `second of ${mode}`, { session_id: "s" });
      isSent.resolve();
      const [approval] = await waitForApprovals(perch(), organisation, id);
      const isKnown = (status: string) => status === "waiting" || status === "failed";
      const record = await waitForRunRecord(organisation, next, isKnown);
      if (mode === "refuse") expect(record.error).toContain("waits for a person");
      else expect(record.status).toBe("waiting");
      await decide(perch(), organisation, approval?.id ?? "", { verdict: "approve" });
      expect(await waitForRunRecord(organisation, id, isOver)).toMatchObject({ status: "completed" });
      if (mode === "refuse") continue;
      expect(await waitForRunRecord(organisation, next, isOver)).toMatchObject({ status: "completed" });
      const last = script.calls.filter((call) => lastUserMessage(call) === `second of ${mode}`).at(-1);
      expect(last?.messages.map(({ content }) => content)).toEqual([message, "done", `second of ${mode}`]);
    }
  });
});

describe("a run whose decisions are made", () => {
  test("goes on when its paused agent is resumed, and not before", async () => {
    const message = "while paused";
    replies.set(message, onFirstStep(callTools(["refund", { amount: 1 }])));
    const organisation = await createAgent([refund("always")]);
    const id = await start(organisation, message);
    const [approval] = await waitForApprovals(perch(), organisation, id);
    ok(await organisation.call("POST /v1/agents/{agent_id}/pause", { params: { agent_id: "bot" } }));
    await decide(perch(), organisation, approval?.id ?? "", { verdict: "approve" });
    await sleep(2500);
    expect(callsOf(id)).toEqual([]);
    expect((await waitForRunRecord(organisation, id, () => true)).status).toBe("waiting");
    ok(await organisation.call("POST /v1/agents/{agent_id}/resume", { params: { agent_id: "bot" } }));
    expect(await waitForRunRecord(organisation, id, isOver)).toMatchObject({ status: "completed" });
  });

  test("waits for a slot, and is not refused for want of one", async () => {
    verifies("approvals.suspend");
    const message = "no slot";
    replies.set(message, onFirstStep(callTools(["refund", { amount: 1 }])));
    const isDone = Promise.withResolvers<void>();
    replies.set("takes the slot", async () => {
      await isDone.promise;
      return { reply: "done" };
    });
    const organisation = await createAgent([refund("always")], { limits: { max_concurrent_runs: 1 } });
    const id = await start(organisation, message);
    const [approval] = await waitForApprovals(perch(), organisation, id);
    // The run that waits holds no slot.
    const other = await start(organisation, "takes the slot");
    await decide(perch(), organisation, approval?.id ?? "", { verdict: "approve" });
    await sleep(2500);
    expect(callsOf(id)).toEqual([]);
    isDone.resolve();
    expect(await waitForRunRecord(organisation, other, isOver)).toMatchObject({ status: "completed" });
    expect(await waitForRunRecord(organisation, id, isOver)).toMatchObject({ status: "completed" });
    expect(callsOf(id)).toHaveLength(1);
  });

  test("has the time that it had left when it was cut: its clock stood still", async () => {
    verifies("approvals.suspend");
    const message = "slow person";
    replies.set(message, onFirstStep(callTools(["refund", { amount: 1 }])));
    const organisation = await createAgent([refund("always")], { limits: { timeout_seconds: 3 } });
    const id = await start(organisation, message);
    const [approval] = await waitForApprovals(perch(), organisation, id);
    await sleep(3500);
    await decide(perch(), organisation, approval?.id ?? "", { verdict: "approve" });
    const ended = await waitForRunRecord(organisation, id, isOver);
    expect(ended.status).toBe("completed");
    expect(ended.duration_ms).toBeLessThan(3000);
  });

  test("makes no call if its agent was deleted before it went on", async () => {
    const message = "of a deleted agent";
    replies.set(message, onFirstStep(callTools(["refund", { amount: 1 }])));
    const organisation = await createAgent([refund("always")]);
    const id = await start(organisation, message);
    const [approval] = await waitForApprovals(perch(), organisation, id);
    const params = { agent_id: "bot" };
    ok(await organisation.call("POST /v1/agents/{agent_id}/pause", { params }));
    await decide(perch(), organisation, approval?.id ?? "", { verdict: "approve" });
    await sleep(1500);
    ok(await organisation.call("DELETE /v1/agents/{agent_id}", { params }));
    await runNow(organisation);
    await expect.poll(() => statusOf(organisation, id), { timeout: 10_000 }).toBe("cancelled");
    expect(callsOf(id)).toEqual([]);
  });

  test("ends if what it waited with cannot be read, and the next turn of its session begins", async () => {
    const message = "unreadable";
    replies.set(message, onFirstStep(callTools(["refund", { amount: 1 }])));
    const organisation = await createAgent([refund("always")]);
    const id = await start(organisation, message, { session_id: "s" });
    const [approval] = await waitForApprovals(perch(), organisation, id);
    await inOrganisation(organisation, (trx) =>
      sql`update waiting_runs set sealed = set_byte(sealed, 40, 255 - get_byte(sealed, 40))`.execute(trx),
    );
    await decide(perch(), organisation, approval?.id ?? "", { verdict: "approve" });
    const ended = await waitForRunRecord(organisation, id, isOver);
    expect(ended).toMatchObject({ status: "failed", error_code: "server_error", retryable: true });
    expect(callsOf(id)).toEqual([]);
    const next = await start(organisation, "after that", { session_id: "s" });
    expect(await waitForRunRecord(organisation, next, isOver)).toMatchObject({ status: "completed" });
  });
});
