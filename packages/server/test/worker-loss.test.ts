import { afterAll, describe, expect, test } from "vitest";
import { invokeAt, scripted } from "./invoking.ts";
import { lastSaid, startScriptServer } from "./script-server.ts";
import { usePerchBehindDoor } from "./worker-door.ts";

const echo = { tool_calls: [{ name: "perch_echo", arguments: {} }] };
const script = await startScriptServer((call) => {
  if (lastSaid(call) === "warm up") return { reply: "warm" };
  return call.step === 1 ? echo : { reply: `done: ${lastSaid(call)}`, delay_ms: 1000 };
});
const stepsOf = (message: string): number[] =>
  script.calls.filter((call) => lastSaid(call) === message).map(({ step }) => step);
const behindDoor = usePerchBehindDoor({ PERCH_SCRIPT_URL: script.url });
afterAll(() => script.close());

async function withBot() {
  const { perch } = behindDoor();
  const organisation = await perch.newOrganisation();
  await scripted(organisation);
  expect((await invokeAt(perch, organisation.adminKey, { message: "warm up" })).data.response).toBe("warm");
  return organisation;
}

describe("a worker that is lost", () => {
  test.each([
    ["killed", "SIGKILL"],
    ["stopped", "SIGTERM"],
  ] as const)(
    "%s between two model steps: who waits gets the answer, and the first step was not repeated",
    async (how, signal) => {
      const { perch, haveWorkers, loseWorker } = behindDoor();
      await haveWorkers(1);
      const { adminKey } = await withBot();
      await haveWorkers(2);
      const context = { session_id: how };
      const waiting = [
        invokeAt(perch, adminKey, { message: `${how} alone` }),
        invokeAt(perch, adminKey, { message: `${how} in a session`, context }),
      ];
      const messages = [`${how} alone`, `${how} in a session`];
      for (const message of messages) await expect.poll(() => stepsOf(message), { timeout: 5000 }).toEqual([1, 2]);
      await loseWorker(signal);
      const answers = await Promise.all(waiting);
      expect(answers.map(({ status, data }) => [status, data.response])).toEqual(
        messages.map((message) => [200, `done: ${message}`]),
      );
      for (const message of messages) {
        // The step that was under way when the worker went may have been asked twice, and no other.
        expect(stepsOf(message).filter((step) => step === 1)).toHaveLength(1);
        expect(stepsOf(message).length).toBeLessThanOrEqual(3);
      }
      if (signal === "SIGKILL") expect(stepsOf(`${how} alone`)).toEqual([1, 2, 2]);
    },
    60_000,
  );
});
