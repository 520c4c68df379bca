import { lastUserMessage, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { afterAll, describe, expect, test } from "vitest";
import { usePerch } from "../../../test/support/harness.ts";
import {
  createScriptedAgent,
  invokeAgent,
  invokeInBackground,
  waitForRunRecord,
} from "../../../test/support/invoke-calls.ts";

const callsOf = (message: string): number => script.calls.filter((call) => lastUserMessage(call) === message).length;
const echo = { tool_calls: [{ name: "perch_echo", arguments: {} }] };
const script = await startScriptServer((call) => {
  const message = lastUserMessage(call);
  if (message.startsWith("always") && call.step === (message.endsWith("later") ? 2 : 1)) return { fail: "transient" };
  if (message === "twice" && callsOf(message) <= 2) return { fail: "transient" };
  if (message === "nonsense once" && callsOf(message) === 1) return { no: "step" };
  return call.step === 1 && message.endsWith("later") ? echo : { reply: `after ${callsOf(message)}` };
});
const perch = usePerch({ scriptModelUrl: script.url }, { withWorker: true });
afterAll(() => script.close());

async function createOrganisationWithAgent(limits = {}) {
  const organisation = await perch().createOrganisation();
  await createScriptedAgent(organisation, [], limits);
  return organisation;
}

describe("a model that fails transiently", () => {
  test.each([
    ["twice", "after 3"],
    ["nonsense once", "after 2"],
  ])("%s: the call is retried until it succeeds", async (message, response) => {
    const { adminKey } = await createOrganisationWithAgent();
    expect((await invokeAgent(perch(), adminKey, { message })).data.response).toBe(response);
  });

  test.each([["always"], ["always later"]])("%s: the run ends at its time limit", async (message) => {
    const { adminKey } = await createOrganisationWithAgent({ timeout_seconds: 2 });
    const { status, error } = await invokeAgent(perch(), adminKey, { message });
    expect(status).toBe(422);
    expect(error.message).toContain("(limits.timeout_seconds)");
    expect(error.message).toContain("The script says: fail, and retry.");
    expect(callsOf(message)).toBeGreaterThan(2);
  });

  test("a run that waits for it can be cancelled", async () => {
    const organisation = await createOrganisationWithAgent({ timeout_seconds: 20 });
    const message = "always, until cancelled";
    const id = await invokeInBackground(perch(), organisation.adminKey, { message });
    await expect.poll(() => callsOf(message)).toBeGreaterThan(1);
    await organisation.call("POST /v1/agents/{agent_id}/invocations/{request_id}/cancel", {
      params: { agent_id: "bot", request_id: id },
    });
    expect((await waitForRunRecord(organisation, id)).status).toBe("cancelled");
  });
});
