import { afterAll, describe, expect, test } from "vitest";
import { serviceUrl } from "../../../../scripts/testbed/scratch-database.ts";
import { ok, refusal } from "../../test/contract-client.ts";
import { type Organisation, usePerch } from "../../test/harness.ts";
import { inBackground, invokeAt, recordOf, scripted } from "../../test/invoking.ts";
import { lastSaid, startScriptServer } from "../../test/script-server.ts";

const echo = { tool_calls: [{ name: "perch_echo", arguments: {} }], delay_ms: 600, tokens: 4 };
const script = await startScriptServer((call) => {
  if (lastSaid(call) === "quick") return { reply: "done" };
  return call.step === 1 ? echo : { reply: "the end" };
});
const perch = usePerch({ scriptUrl: script.url, valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { runs: true });
afterAll(() => script.close());

const operation = "POST /v1/agents/{agent_id}/invocations/{request_id}/cancel";
const at = (request_id: string) => ({ params: { agent_id: "bot", request_id } });
const stepsOf = (message: string): number[] =>
  script.calls.filter((call) => lastSaid(call) === message).map(({ step }) => step);

async function withBot(limits = {}): Promise<Organisation> {
  const organisation = await perch().newOrganisation();
  await scripted(organisation, [], limits);
  return organisation;
}

async function runningId({ call }: Organisation): Promise<string> {
  const query = { status: "running" } as const;
  const running = () => call("GET /v1/agents/{agent_id}/invocations", { params: { agent_id: "bot" }, query }).then(ok);
  await expect.poll(async () => (await running()).data.length).toBe(1);
  return (await running()).data[0]?.request_id ?? "";
}

describe(operation, () => {
  test("stops the run before its next step; who waits for it gets 409, and the record says cancelled", async () => {
    const organisation = await withBot();
    const waiting = invokeAt(perch(), organisation.adminKey, { message: "stop me" });
    const id = await runningId(organisation);
    expect(ok(await organisation.call(operation, at(id))).data).toMatchObject({ request_id: id, status: "running" });
    const { status, error } = await waiting;
    expect(status).toBe(409);
    expect(error).toMatchObject({
      code: "conflict",
      message: "The run was cancelled.",
      details: [{ field: "request_id", error: id }],
    });
    expect(stepsOf("stop me")).toEqual([1]);
    expect(await recordOf(organisation, id)).toMatchObject({
      status: "cancelled",
      error: "The run was cancelled.",
      response: null,
      steps: 1,
      tokens_used: 4,
    });
  });

  test("makes room for another run", async () => {
    const organisation = await withBot({ max_concurrent_runs: 1 });
    const id = await inBackground(perch(), organisation.adminKey, { message: "takes the place" });
    ok(await organisation.call(operation, at(id)));
    expect((await recordOf(organisation, id)).status).toBe("cancelled");
    expect((await invokeAt(perch(), organisation.adminKey, { message: "quick" })).status).toBe(200);
  });

  test("changes nothing once the run has ended, and nothing more when repeated", async () => {
    const organisation = await withBot();
    const { data } = await invokeAt(perch(), organisation.adminKey, { message: "quick" });
    const before = await recordOf(organisation, data.request_id);
    for (let i = 0; i < 2; i++)
      expect(ok(await organisation.call(operation, at(data.request_id))).data).toEqual(before);
    const id = await inBackground(perch(), organisation.adminKey, { message: "twice" });
    for (let i = 0; i < 2; i++) ok(await organisation.call(operation, at(id)));
    const cancelled = await recordOf(organisation, id);
    expect(ok(await organisation.call(operation, at(id))).data).toEqual(cancelled);
  });

  test("a turn that waits for its session's turn never starts; the turns around it go on", async () => {
    const organisation = await withBot();
    const context = { session_id: "s" };
    const first = await inBackground(perch(), organisation.adminKey, { message: "turn one", context });
    const queued = await inBackground(perch(), organisation.adminKey, { message: "turn two", context });
    const last = invokeAt(perch(), organisation.adminKey, { message: "turn three", context });
    ok(await organisation.call(operation, at(queued)));
    expect(await recordOf(organisation, queued)).toMatchObject({ status: "cancelled", steps: 0 });
    expect((await recordOf(organisation, first)).status).toBe("completed");
    expect((await last).data.response).toBe("the end");
    expect(stepsOf("turn two")).toEqual([]);
  });

  test("404 for what is not there, and for other organisations, whose run goes on", async () => {
    const organisation = await withBot();
    const stranger = await withBot();
    const id = await inBackground(perch(), organisation.adminKey, { message: "mine" });
    expect(refusal(await stranger.call(operation, at(id))).status).toBe(404);
    expect(refusal(await organisation.call(operation, at("req_01h455vb4pex5vsknk084sn02q"))).status).toBe(404);
    expect((await recordOf(organisation, id)).status).toBe("completed");
  });
});
