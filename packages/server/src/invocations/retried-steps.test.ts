import { afterAll, describe, expect, test } from "vitest";
import { usePerch } from "../../test/harness.ts";
import { inBackground, invokeAt, recordOf, scripted } from "../../test/invoking.ts";
import { lastSaid, startScriptServer } from "../../test/script-server.ts";

const callsOf = (message: string): number => script.calls.filter((call) => lastSaid(call) === message).length;
const echo = { tool_calls: [{ name: "perch_echo", arguments: {} }] };
const script = await startScriptServer((call) => {
  const message = lastSaid(call);
  if (message.startsWith("always") && call.step === (message.endsWith("later") ? 2 : 1)) return { fail: "once more" };
  if (message === "twice" && callsOf(message) <= 2) return { fail: "once more" };
  if (message === "nonsense once" && callsOf(message) === 1) return { no: "step" };
  return call.step === 1 && message.endsWith("later") ? echo : { reply: `after ${callsOf(message)}` };
});
const perch = usePerch({ scriptUrl: script.url }, { runs: true });
afterAll(() => script.close());

async function withBot(limits = {}) {
  const organisation = await perch().newOrganisation();
  await scripted(organisation, [], limits);
  return organisation;
}

describe("a model that fails for now", () => {
  test.each([
    ["twice", "after 3"],
    ["nonsense once", "after 2"],
  ])("%s is asked again until it answers", async (message, response) => {
    const { adminKey } = await withBot();
    expect((await invokeAt(perch(), adminKey, { message })).data.response).toBe(response);
  });

  test.each([["always"], ["always later"]])("%s: the run ends at its time limit", async (message) => {
    const { adminKey } = await withBot({ timeout_seconds: 2 });
    const { status, error } = await invokeAt(perch(), adminKey, { message });
    expect(status).toBe(500);
    expect(error.message).toContain("(limits.timeout_seconds)");
    expect(error.message).toContain("The script says: fail, and try again.");
    expect(callsOf(message)).toBeGreaterThan(2);
  });

  test("can be cancelled meanwhile", async () => {
    const organisation = await withBot({ timeout_seconds: 20 });
    const message = "always, until cancelled";
    const id = await inBackground(perch(), organisation.adminKey, { message });
    await expect.poll(() => callsOf(message)).toBeGreaterThan(1);
    await organisation.call("POST /v1/agents/{agent_id}/invocations/{request_id}/cancel", {
      params: { agent_id: "bot", request_id: id },
    });
    expect((await recordOf(organisation, id)).status).toBe("cancelled");
  });
});
