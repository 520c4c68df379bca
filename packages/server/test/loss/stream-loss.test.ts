import { lastUserMessage, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, describe, expect, test } from "vitest";
import { invokeStreaming, joinTokens, type StreamEvent } from "../support/event-stream-client.ts";
import { createScriptedAgent, invokeAgent } from "../support/invoke-calls.ts";
import { usePerchWithWorkerProcesses } from "../support/worker-processes.ts";

const words = (name: string) => Array.from({ length: 40 }, (_, i) => `${name}-${i}`).join(" ");
const callsOf = (message: string) => script.calls.filter((call) => lastUserMessage(call) === message).length;
/** `same` gives the same reply in every attempt; `other` differs from its tenth word on. */
const replies: Record<string, () => string> = {
  "warm up": () => "warm",
  same: () => words("same"),
  other: () => words("same").replaceAll(/same-(\d\d)/g, `attempt-${callsOf("other")}-$1`),
};
const script = await startScriptServer((call) => ({
  reply: replies[lastUserMessage(call)]?.() ?? "",
  word_delay_ms: 50,
}));
const perchWithWorkers = usePerchWithWorkerProcesses({ PERCH_SCRIPT_MODEL_URL: script.url });
afterAll(() => script.close());

/** Follows a run whose worker is killed after the first words. */
async function followThroughWorkerKill(message: string): Promise<StreamEvent[]> {
  const { perch, ensureWorkers, endActiveWorker } = perchWithWorkers();
  await ensureWorkers(1);
  const organisation = await perch.createOrganisation();
  await createScriptedAgent(organisation);
  expect((await invokeAgent(perch, organisation.adminKey, { message: "warm up" })).data.response).toBe("warm");
  await ensureWorkers(2);
  const events: StreamEvent[] = [];
  let workerEnded: Promise<void> | undefined;
  for await (const event of (await invokeStreaming(perch, organisation.adminKey, { message })).events()) {
    events.push(event);
    if (joinTokens(events).split(" ").length > 15) workerEnded ??= endActiveWorker("SIGKILL");
  }
  await workerEnded;
  expect(callsOf(message)).toBe(2);
  return events;
}

describe("a worker killed in the middle of a stream", () => {
  test("if the repeated answer is the same, the stream continues without repeating a word", async () => {
    verifies("invocation.stream");
    const events = await followThroughWorkerKill("same");
    const texts = events.filter(({ event }) => event === "token").map(({ data }) => String(data.text));
    expect(texts.join("")).toBe(words("same"));
    const steps = events.filter(({ event }) => event === "step").map(({ data }) => data.status);
    expect(steps).toEqual(["started", "interrupted", "started", "completed"]);
    expect(events.at(-1)).toMatchObject({ event: "done", data: { response: words("same") } });
  }, 60_000);

  test("if the repeated answer differs, the stream replaces the differing part, and the client ends up with the full text once", async () => {
    const events = await followThroughWorkerKill("other");
    const answer = words("same").replaceAll(/same-(\d\d)/g, "attempt-2-$1");
    expect(joinTokens(events)).toBe(answer);
    expect(events.at(-1)).toMatchObject({ event: "done", data: { response: answer } });
    const tokens = events
      .filter(({ event }) => event === "token")
      .map(({ data }) => data as { offset: number; text: string });
    let length = 0;
    const back = tokens.filter(({ offset, text }) => {
      const isBack = offset < length;
      length = offset + text.length;
      return isBack;
    });
    // One token goes back, to the first difference, and none after it.
    const common = words("same").indexOf("same-10") + "attempt-".length;
    expect(back.map(({ offset }) => offset)).toEqual([common]);
  }, 60_000);
});
