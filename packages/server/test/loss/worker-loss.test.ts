import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { lastUserMessage, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { afterAll, describe, expect, test } from "vitest";
import { parsePublicId } from "../../src/platform/ids.ts";
import { ok } from "../support/contract-client.ts";
import { createScriptedAgent, invokeAgent, invokeInBackground, waitForRunRecord } from "../support/invoke-calls.ts";
import { usePerchWithWorkerProcesses } from "../support/worker-processes.ts";

const echo = { tool_calls: [{ name: "perch_echo", arguments: {} }] };
const script = await startScriptServer((call) => {
  if (lastUserMessage(call) === "warm up") return { reply: "warm" };
  return call.step === 1 ? echo : { reply: `done: ${lastUserMessage(call)}`, delay_ms: 1000 };
});
const stepsOf = (message: string): number[] =>
  script.calls.filter((call) => lastUserMessage(call) === message).map(({ step }) => step);
const perchWithWorkers = usePerchWithWorkerProcesses({ PERCH_SCRIPT_MODEL_URL: script.url });
afterAll(() => script.close());

async function createOrganisationWithAgent() {
  const { perch } = perchWithWorkers();
  const organisation = await perch.createOrganisation();
  await createScriptedAgent(organisation);
  expect((await invokeAgent(perch, organisation.adminKey, { message: "warm up" })).data.response).toBe("warm");
  return organisation;
}

describe("a worker is lost", () => {
  test.each([
    ["killed", "SIGKILL"],
    ["stopped", "SIGTERM"],
  ] as const)(
    "%s between two model steps: waiting clients get the answer, and the first step is not repeated",
    async (how, signal) => {
      const { perch, ensureWorkers, endActiveWorker } = perchWithWorkers();
      await ensureWorkers(1);
      const { adminKey } = await createOrganisationWithAgent();
      await ensureWorkers(2);
      const context = { session_id: how };
      const waiting = [
        invokeAgent(perch, adminKey, { message: `${how} alone` }),
        invokeAgent(perch, adminKey, { message: `${how} in a session`, context }),
      ];
      const messages = [`${how} alone`, `${how} in a session`];
      for (const message of messages) await expect.poll(() => stepsOf(message)).toEqual([1, 2]);
      await endActiveWorker(signal);
      const answers = await Promise.all(waiting);
      expect(answers.map(({ status, data }) => [status, data.response])).toEqual(
        messages.map((message) => [200, `done: ${message}`]),
      );
      for (const message of messages) {
        // Only the step in flight when the worker ended may have been called twice.
        expect(stepsOf(message).filter((step) => step === 1)).toHaveLength(1);
        expect(stepsOf(message).length).toBeLessThanOrEqual(3);
      }
      if (signal === "SIGKILL") expect(stepsOf(`${how} alone`)).toEqual([1, 2, 2]);
    },
    60_000,
  );

  test("killed after its agent was deleted: a worker that never saw the agent continues the run", async () => {
    const { perch, ensureWorkers, endActiveWorker } = perchWithWorkers();
    await ensureWorkers(1);
    const { adminKey, call } = await createOrganisationWithAgent();
    await ensureWorkers(2);
    const waiting = invokeAgent(perch, adminKey, { message: "deleted" });
    await expect.poll(() => stepsOf("deleted")).toEqual([1, 2]);
    ok(await call("DELETE /v1/agents/{agent_id}", { params: { agent_id: "bot" } }));
    await endActiveWorker("SIGKILL");
    expect((await waiting).data.response).toBe("done: deleted");
    expect(stepsOf("deleted")).toEqual([1, 2, 2]);
  }, 60_000);

  test("killed after the definition of a run was lost, as by a restore: the run is ended, and its session goes on", async () => {
    const { perch, ensureWorkers, endActiveWorker } = perchWithWorkers();
    await ensureWorkers(1);
    const organisation = await createOrganisationWithAgent();
    const { adminKey, call } = organisation;
    await ensureWorkers(2);
    const context = { session_id: "restored" };
    const id = await invokeInBackground(perch, adminKey, { message: "lost definition", context });
    await expect.poll(() => stepsOf("lost definition")).toEqual([1, 2]);
    await withClient(perch.database.adminUrl, (admin) =>
      admin.query("delete from draft_definitions where organisation_id = $1", [
        parsePublicId("organisation", organisation.id),
      ]),
    );
    await endActiveWorker("SIGKILL");
    const ended = await waitForRunRecord(organisation, id);
    expect(ended).toMatchObject({ status: "failed", error: expect.stringContaining("no longer in the database") });
    expect(stepsOf("lost definition")).toEqual([1, 2]);
    // A run that the engine tries for ever would occupy its session's turn.
    ok(await call("PATCH /v1/agents/{agent_id}", { params: { agent_id: "bot" }, body: { logs: "full" } }));
    const next = await invokeAgent(perch, adminKey, { message: "warm up", context });
    expect(next.data.response).toBe("warm");
  }, 60_000);
});
