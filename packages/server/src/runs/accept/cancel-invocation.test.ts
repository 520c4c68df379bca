import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { lastUserMessage, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { afterAll, describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import {
  createScriptedAgent,
  invokeAgent,
  invokeInBackground,
  waitForRunRecord,
} from "../../../test/support/invoke-calls.ts";

const echo = { tool_calls: [{ name: "perch_echo", arguments: {} }], delay_ms: 600, tokens: 4 };
const script = await startScriptServer((call) => {
  if (lastUserMessage(call) === "quick") return { reply: "done" };
  return call.step === 1 ? echo : { reply: "the end" };
});
const perch = usePerch({ scriptModelUrl: script.url, valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true });
afterAll(() => script.close());

const operation = "POST /v1/agents/{agent_id}/invocations/{request_id}/cancel";
const at = (request_id: string) => ({ params: { agent_id: "bot", request_id } });
const stepsOf = (message: string): number[] =>
  script.calls.filter((call) => lastUserMessage(call) === message).map(({ step }) => step);

async function createOrganisationWithAgent(limits = {}): Promise<Organisation> {
  const organisation = await perch().createOrganisation();
  await createScriptedAgent(organisation, [], limits);
  return organisation;
}

async function runningId({ call }: Organisation): Promise<string> {
  const query = { status: "running" } as const;
  const running = () => call("GET /v1/agents/{agent_id}/invocations", { params: { agent_id: "bot" }, query }).then(ok);
  await expect.poll(async () => (await running()).data.length).toBe(1);
  return (await running()).data[0]?.request_id ?? "";
}

describe(operation, () => {
  test("stops the run before its next step; the waiting client gets 409, and the record is cancelled", async () => {
    const organisation = await createOrganisationWithAgent();
    const waiting = invokeAgent(perch(), organisation.adminKey, { message: "stop me" });
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
    expect(await waitForRunRecord(organisation, id)).toMatchObject({
      status: "cancelled",
      error: "The run was cancelled.",
      response: null,
      steps: 1,
      tokens_used: 4,
    });
  });

  test("frees a slot for another run", async () => {
    const organisation = await createOrganisationWithAgent({ max_concurrent_runs: 1 });
    const id = await invokeInBackground(perch(), organisation.adminKey, { message: "takes the place" });
    ok(await organisation.call(operation, at(id)));
    expect((await waitForRunRecord(organisation, id)).status).toBe("cancelled");
    expect((await invokeAgent(perch(), organisation.adminKey, { message: "quick" })).status).toBe(200);
  });

  test("changes nothing once the run has ended, and nothing more when repeated", async () => {
    const organisation = await createOrganisationWithAgent();
    const { data } = await invokeAgent(perch(), organisation.adminKey, { message: "quick" });
    const before = await waitForRunRecord(organisation, data.request_id);
    for (let i = 0; i < 2; i++)
      expect(ok(await organisation.call(operation, at(data.request_id))).data).toEqual(before);
    const id = await invokeInBackground(perch(), organisation.adminKey, { message: "twice" });
    for (let i = 0; i < 2; i++) ok(await organisation.call(operation, at(id)));
    const cancelled = await waitForRunRecord(organisation, id);
    expect(ok(await organisation.call(operation, at(id))).data).toEqual(cancelled);
  });

  test("a run that waits for its session never starts; the other runs of the session continue", async () => {
    const organisation = await createOrganisationWithAgent();
    const context = { session_id: "s" };
    const first = await invokeInBackground(perch(), organisation.adminKey, { message: "turn one", context });
    const queued = await invokeInBackground(perch(), organisation.adminKey, { message: "turn two", context });
    const last = invokeAgent(perch(), organisation.adminKey, { message: "turn three", context });
    ok(await organisation.call(operation, at(queued)));
    expect(await waitForRunRecord(organisation, queued)).toMatchObject({ status: "cancelled", steps: 0 });
    expect((await waitForRunRecord(organisation, first)).status).toBe("completed");
    expect((await last).data.response).toBe("the end");
    expect(stepsOf("turn two")).toEqual([]);
  });

  test("404 for unknown runs and for other organisations, and the run continues", async () => {
    const organisation = await createOrganisationWithAgent();
    const otherOrganisation = await createOrganisationWithAgent();
    const id = await invokeInBackground(perch(), organisation.adminKey, { message: "mine" });
    expect(expectError(await otherOrganisation.call(operation, at(id))).status).toBe(404);
    expect(expectError(await organisation.call(operation, at("req_01h455vb4pex5vsknk084sn02q"))).status).toBe(404);
    expect((await waitForRunRecord(organisation, id)).status).toBe("completed");
  });
});
