import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { lastUserMessage, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { type ApiNode, usePerch } from "../../../test/support/harness.ts";
import {
  type InvokeResponse,
  invokeAgent,
  invokeInBackground,
  invokeOperation,
  waitForRunRecord,
} from "../../../test/support/invoke-calls.ts";
import {
  type AskingOrganisation,
  callRefund,
  createOrganisationThatAsks,
} from "../../../test/support/waiting-calls.ts";
import { createEngineRuns } from "../../engine/engine-runs.ts";
import { parsePublicId } from "../../platform/ids.ts";

/** A message begins with how often the model asks for money before it is done. */
const script = await startScriptServer((call) => {
  const asks = Number(lastUserMessage(call).split(" ")[0]);
  return call.step <= asks ? callRefund(call.step) : { reply: `done after ${asks}` };
});
afterAll(() => script.close());
const tool = await startToolServer();
afterAll(() => tool.close());

const perch = usePerch(
  {
    scriptModelUrl: script.url,
    valkeyUrl: serviceUrl("PERCH_VALKEY_URL"),
    outboundAllowedPrivateRanges: ["127.0.0.0/8"],
  },
  { withWorker: true },
);
let other: ApiNode;
beforeAll(async () => {
  other = await perch().addApiNode();
});

const createAsking = (definition = {}) => createOrganisationThatAsks(perch(), tool.url, definition);

interface Asked {
  readonly key?: string;
  readonly prefer?: string;
  readonly context?: object;
  readonly node?: ApiNode;
}

const ask = ({ adminKey }: AskingOrganisation, message: string, { key, prefer, context, node }: Asked = {}) =>
  invokeAgent(
    node ?? perch(),
    adminKey,
    { message, ...(context && { context }) },
    { headers: { ...(key && { "idempotency-key": key }), ...(prefer && { prefer }) } },
  );

const valuesOf = ({ error }: InvokeResponse, field: string): string[] =>
  (error.details ?? []).flatMap((detail) => (detail.field === field ? [detail.error] : []));
const approvalOf = (response: InvokeResponse): string => valuesOf(response, "approval_id")[0] ?? "";
const runOf = (response: InvokeResponse): string => valuesOf(response, "request_id")[0] ?? "";
const codeOf = ({ status, error }: InvokeResponse) => [status, error?.code];
const callsOf = (requestId: string) => tool.calls.filter(({ headers }) => headers["x-request-id"] === requestId);
const modelCalls = (message: string) => script.calls.filter((call) => lastUserMessage(call) === message).length;
const isOver = (status: string) => status !== "running" && status !== "waiting";
const query = (text: string, values: unknown[] = []) =>
  withClient(perch().database.adminUrl, (client) => client.query(text, values));

describe(`${invokeOperation} of a run that waits for a person`, () => {
  test("409 names the run, the approvals and what to do; a keyed retry gets the same, and the result after the decision", async () => {
    verifies("approvals.invoke");
    const organisation = await createAsking();
    const first = await ask(organisation, "1 refund", { key: "once" });
    expect(codeOf(first)).toEqual([409, "action_required"]);
    const [id, approval] = [runOf(first), approvalOf(first)];
    const location = `/v1/agents/bot/invocations/${id}`;
    expect(first.headers.get("location")).toBe(location);
    expect(first.error.message).toBe(
      `The run waits for a person: decide about the call of "refund" at /v1/approvals/${approval}. Then repeat the request with the same Idempotency-Key to get its result, or read it at ${location}.`,
    );
    const again = await ask(organisation, "1 refund", { key: "once", node: other });
    expect([again.text, again.headers.get("idempotent-replayed")]).toEqual([first.text, "true"]);
    await organisation.approve(approval);
    const result = await ask(organisation, "1 refund", { key: "once", node: other });
    expect([result.status, result.data]).toMatchObject([200, { request_id: id, response: "done after 1" }]);
    expect([callsOf(id).length, modelCalls("1 refund")]).toEqual([1, 2]);
  });

  test("without an Idempotency-Key the answer says that a repeated request is another run", async () => {
    const { error } = await ask(await createAsking(), "1 unkeyed");
    expect(error.message).toContain("Repeating the request would start another run");
  });

  test("a client that accepts 202 gets it, with what the run waits for", async () => {
    verifies("approvals.invoke");
    const organisation = await createAsking();
    const waited = await ask(organisation, "1 preferred", { key: "once", prefer: "wait=30" });
    expect([waited.status, waited.headers.get("preference-applied")]).toEqual([202, "wait=30"]);
    expect(waited.data).toMatchObject({ status: "waiting", approvals: [expect.stringMatching(/^appr_/)] });
    const background = await ask(organisation, "1 background", { key: "twice", prefer: "respond-async" });
    expect([background.status, background.data]).toMatchObject([202, { status: "running" }]);
    await waitForRunRecord(organisation, background.data.request_id, (status) => status === "waiting");
    const again = await ask(organisation, "1 background", { key: "twice", prefer: "respond-async" });
    expect([again.status, again.data]).toMatchObject([
      202,
      { request_id: background.data.request_id, status: "waiting", approvals: [expect.stringMatching(/^appr_/)] },
    ]);
  });

  test("a run that waits again answers with what it waits for now", async () => {
    const organisation = await createAsking();
    const first = await ask(organisation, "2 refunds", { key: "once" });
    await organisation.approve(approvalOf(first));
    const second = await ask(organisation, "2 refunds", { key: "once" });
    expect([codeOf(second), runOf(second)]).toEqual([[409, "action_required"], runOf(first)]);
    expect(approvalOf(second)).not.toBe(approvalOf(first));
    await organisation.approve(approvalOf(second));
    expect((await ask(organisation, "2 refunds", { key: "once" })).data.response).toBe("done after 2");
    expect(callsOf(runOf(first))).toHaveLength(2);
  });

  test("a retry waits for a run that is decided while its agent is paused, as long as it asked to", async () => {
    const organisation = await createAsking();
    const params = { agent_id: "bot" };
    const first = await ask(organisation, "1 paused", { key: "once" });
    ok(await organisation.call("POST /v1/agents/{agent_id}/pause", { params }));
    await organisation.approve(approvalOf(first));
    const early = await ask(organisation, "1 paused", { key: "once", prefer: "wait=1" });
    expect([early.status, early.data]).toMatchObject([202, { request_id: runOf(first), status: "running" }]);
    expect(callsOf(runOf(first))).toEqual([]);
    const waiting = ask(organisation, "1 paused", { key: "once" });
    ok(await organisation.call("POST /v1/agents/{agent_id}/resume", { params }));
    expect((await waiting).data.response).toBe("done after 1");
  });

  test("never begins again, though the engine has forgotten that it began", async () => {
    const organisation = await createAsking();
    const first = await ask(organisation, "1 forgotten", { key: "once" });
    const runs = createEngineRuns(perch().server.core.config.adminUrls);
    expect(await runs.purge([parsePublicId("request", runOf(first)) ?? ""])).toBe(1);
    ok(await organisation.call("POST /v1/agents/{agent_id}/pause", { params: { agent_id: "bot" } }));
    const retryInAnyWay = async () => {
      for (const prefer of ["respond-async", "wait=1"]) await ask(organisation, "1 forgotten", { key: "once", prefer });
      const stream = await fetch(`${perch().url}/v1/agents/bot/invoke`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${organisation.adminKey}`,
          "content-type": "application/json",
          "idempotency-key": "once",
          accept: "text/event-stream",
        },
        body: JSON.stringify({ message: "1 forgotten" }),
        signal: AbortSignal.timeout(1000),
      });
      expect(stream.status).toBe(200);
      await stream.text().catch(() => undefined);
    };
    await retryInAnyWay();
    await organisation.approve(approvalOf(first));
    await retryInAnyWay();
    expect(modelCalls("1 forgotten")).toBe(1);
  });

  test("the invoker may not decide, even with the permission", async () => {
    const organisation = await createAsking();
    const key = await organisation.createKey({ permissions: ["read", "write", "approve"] });
    const started = await invokeAgent(perch(), key, { message: "1 own" });
    const decision = { params: { approval_id: approvalOf(started) }, body: {} };
    const own = expectError(await organisation.call("POST /v1/approvals/{approval_id}/approve", decision, key));
    expect([own.status, own.message]).toEqual([403, expect.stringContaining("You started this run")]);
    await organisation.approve(approvalOf(started));
    expect((await waitForRunRecord(organisation, runOf(started), isOver)).status).toBe("completed");
  });
});

describe("the session of a run that waits for a person", () => {
  test("its next message is 409 and names what to decide; other sessions, users and retries of the run itself are not", async () => {
    verifies("approvals.session");
    const organisation = await createAsking();
    const context = { session_id: "s", user_id: "ada" };
    const first = await ask(organisation, "1 turn", { key: "first", context });
    const next = await ask(organisation, "0 next", { key: "next", context });
    expect(codeOf(next)).toEqual([409, "conflict"]);
    expect([...valuesOf(next, "waiting_request_id"), approvalOf(next)]).toEqual([runOf(first), approvalOf(first)]);
    // A conflict that names a run is about that run.
    expect(runOf(next)).toBe("");
    expect(next.error.message).toContain(`Decide at /v1/approvals/${approvalOf(first)}, or cancel the run.`);
    for (const elsewhere of [
      { session_id: "t", user_id: "ada" },
      { session_id: "s", user_id: "bob" },
      { session_id: "s" },
    ])
      expect((await ask(organisation, "0 elsewhere", { context: elsewhere })).status).toBe(200);
    expect(codeOf(await ask(organisation, "1 turn", { key: "first", context }))).toEqual([409, "action_required"]);
    await organisation.approve(approvalOf(first));
    expect((await ask(organisation, "1 turn", { key: "first", context })).status).toBe(200);
    // A refusal is not stored: the same key runs it now.
    expect((await ask(organisation, "0 next", { key: "next", context })).data.response).toBe("done after 0");
  });

  test("if the agent's turns queue, the next message waits for its turn, and a retry gets its result", async () => {
    const organisation = await createAsking({ approvals: { while_waiting: "queue" } });
    const context = { session_id: "s" };
    const first = await ask(organisation, "1 queued turn", { key: "first", context });
    const next = await ask(organisation, "0 queued next", { key: "next", context });
    expect([codeOf(next), approvalOf(next)]).toEqual([[409, "action_required"], ""]);
    expect(next.error.message).toContain("The run waits for its turn");
    expect(runOf(next)).not.toBe(runOf(first));
    await organisation.approve(approvalOf(first));
    const results = await Promise.all([
      ask(organisation, "0 queued next", { key: "next", context }),
      ask(organisation, "1 queued turn", { key: "first", context }),
    ]);
    expect(results.map(({ data, error }) => data?.response ?? error.code)).toEqual([
      expect.stringMatching(/^(done after 0|action_required)$/),
      "done after 1",
    ]);
    await expect
      .poll(async () => (await ask(organisation, "0 queued next", { key: "next", context })).data?.response)
      .toBe("done after 0");
    const last = script.calls.findLast((call) => lastUserMessage(call) === "0 queued next");
    expect(last?.messages.map(({ content }) => content)).toEqual(["1 queued turn", "done after 1", "0 queued next"]);
  });
});

const cancelOperation = "POST /v1/agents/{agent_id}/invocations/{request_id}/cancel";

describe(`${cancelOperation} of a run that waits for a person`, () => {
  const cancel = async (organisation: AskingOrganisation, request_id: string) =>
    ok(await organisation.call(cancelOperation, { params: { agent_id: "bot", request_id } })).data;
  const findApproval = async ({ call }: AskingOrganisation, approval_id: string) =>
    ok(await call("GET /v1/approvals/{approval_id}", { params: { approval_id } })).data;

  test("ends it, closes its approvals, and makes no call; a keyed retry gets the end", async () => {
    const organisation = await createAsking();
    const started = await ask(organisation, "1 stopped", { key: "once" });
    const id = runOf(started);
    await cancel(organisation, id);
    const retried = await ask(organisation, "1 stopped", { key: "once" });
    expect([codeOf(retried), retried.error.message]).toEqual([[409, "conflict"], "The run was cancelled."]);
    expect(await waitForRunRecord(organisation, id, isOver)).toMatchObject({ status: "cancelled" });
    expect((await findApproval(organisation, approvalOf(started))).status).toBe("cancelled");
    expect(callsOf(id)).toEqual([]);
    expect((await cancel(organisation, id)).status).toBe("cancelled");
  });

  test("ends it also after the decision, while its agent is paused", async () => {
    const organisation = await createAsking();
    const started = await ask(organisation, "1 approved and stopped");
    ok(await organisation.call("POST /v1/agents/{agent_id}/pause", { params: { agent_id: "bot" } }));
    await organisation.approve(approvalOf(started));
    // It was looked at, and left until the agent is resumed.
    await expect
      .poll(async () => {
        const text = "select from waiting_runs where id = $1 and send_after > now() + interval '30 s'";
        return (await query(text, [parsePublicId("request", runOf(started))])).rowCount;
      })
      .toBe(1);
    await cancel(organisation, runOf(started));
    expect((await waitForRunRecord(organisation, runOf(started), isOver)).status).toBe("cancelled");
    expect(callsOf(runOf(started))).toEqual([]);
  });

  test("ends a turn that waits for an earlier one, which waits on", async () => {
    const organisation = await createAsking({ approvals: { while_waiting: "queue" } });
    const context = { session_id: "s" };
    const first = await ask(organisation, "1 before", { context });
    const next = await ask(organisation, "0 stopped turn", { context });
    await cancel(organisation, runOf(next));
    expect((await waitForRunRecord(organisation, runOf(next), isOver)).status).toBe("cancelled");
    expect((await waitForRunRecord(organisation, runOf(first))).status).toBe("waiting");
    expect(modelCalls("0 stopped turn")).toBe(0);
  });
});

test("lists, steps and the timeline show a run that waits, as far as it came", async () => {
  const organisation = await createAsking();
  const id = await invokeInBackground(perch(), organisation.adminKey, { message: "1 shown" });
  await waitForRunRecord(organisation, id, (status) => status === "waiting");
  const params = { agent_id: "bot" };
  const inAgent = { params, query: { status: "waiting" } } as const;
  const lists = [
    ok(await organisation.call("GET /v1/agents/{agent_id}/invocations", inAgent)).data,
    ok(await organisation.call("GET /v1/invocations", { query: { status: "waiting" } })).data,
  ];
  for (const list of lists)
    expect(list).toMatchObject([{ request_id: id, status: "waiting", finished_at: null, steps: 1 }]);
  const steps = await organisation.call("GET /v1/agents/{agent_id}/invocations/{request_id}/steps", {
    params: { ...params, request_id: id },
    query: {},
  });
  expect(ok(steps).data).toMatchObject([{ kind: "model", step: 1, status: "completed" }]);
  const { timeline } = await waitForRunRecord(organisation, id);
  expect(timeline.map(({ message }) => message)).toContain("Waits for a person: refund");
});
