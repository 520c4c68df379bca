import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { lastUserMessage, type ModelCall, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { afterAll, describe, expect, test } from "vitest";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { createScriptedAgent, invokeAgent } from "../../../test/support/invoke-calls.ts";

let activeCalls = 0;
let maxActiveCalls = 0;
const script = await startScriptServer((call) => {
  const message = lastUserMessage(call);
  const delay_ms = /^(side by side|slow)/.test(message) ? 500 : 0;
  activeCalls += 1;
  maxActiveCalls = Math.max(maxActiveCalls, activeCalls);
  setTimeout(() => {
    activeCalls -= 1;
  }, delay_ms);
  if (message === "bad") return { reply: "No.", fail: "permanent" };
  return { reply: `re: ${message}`, delay_ms };
});
const perch = usePerch({ scriptModelUrl: script.url, valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true });
afterAll(() => script.close());

async function createOrganisationWithAgent(limits = {}): Promise<Organisation> {
  const organisation = await perch().createOrganisation();
  await createScriptedAgent(organisation, [], limits);
  return organisation;
}

async function sendMessage(
  { adminKey }: Organisation,
  message: string,
  session_id?: string,
  agent = "bot",
): Promise<void> {
  const context = session_id === undefined ? {} : { session_id };
  const { status, text, data } = await invokeAgent(perch(), adminKey, { message, context }, { agent });
  if (status !== 200) throw new Error(text);
  expect(data.response).toBe(`re: ${message}`);
}

/** The messages of the last model call for this message. */
function messagesSentWith(message: string): string[] {
  const call = script.calls.findLast((modelCall: ModelCall) => lastUserMessage(modelCall) === message);
  if (!call) throw new Error(`the model was never asked ${message}`);
  return call.messages.map(({ content }) => content);
}

const listStoredMessages = (session: string): Promise<{ turn: number; role: string; content: string }[]> =>
  withClient(perch().database.adminUrl, async (client) => {
    const { rows } = await client.query(
      "select turn, role, content from session_messages where session_id = $1 order by turn, position",
      [session],
    );
    return rows;
  });

describe("a session", () => {
  test("100 messages from many connections: all in the history, one turn at a time, none interleaved", async () => {
    const organisation = await createOrganisationWithAgent({ max_history_messages: 1000 });
    const messages = Array.from({ length: 100 }, (_, i) => `many ${i}`);
    await Promise.all(messages.map((message) => sendMessage(organisation, message, "hundred")));
    const history = await listStoredMessages("hundred");
    const userMessages = history.filter(({ role }) => role === "user").map(({ content }) => content);
    expect(userMessages.toSorted()).toEqual(messages.toSorted());
    expect(history).toEqual(
      userMessages.flatMap((content, i) => [
        { turn: i + 1, role: "user", content },
        { turn: i + 1, role: "assistant", content: `re: ${content}` },
      ]),
    );
    const calls = script.calls.filter((call) => lastUserMessage(call).startsWith("many "));
    expect(calls.map(lastUserMessage)).toEqual(userMessages);
    for (const [turn, call] of calls.entries()) {
      const before = history.slice(0, turn * 2).map(({ content }) => content);
      expect(call.messages.map(({ content }) => content)).toEqual([...before, userMessages[turn]]);
    }
  });

  test("answers in the order in which messages arrived", async () => {
    const organisation = await createOrganisationWithAgent();
    const messages = Array.from({ length: 6 }, (_, i) => `slow ${i}`);
    const answers: Promise<void>[] = [];
    for (const message of messages) {
      answers.push(sendMessage(organisation, message, "ordered"));
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    await Promise.all(answers);
    const userMessages = (await listStoredMessages("ordered"))
      .filter(({ role }) => role === "user")
      .map(({ content }) => content);
    expect(userMessages).toEqual(messages);
  });

  test("sends the model at most limits.max_history_messages, the newest", async () => {
    const organisation = await createOrganisationWithAgent({ max_history_messages: 2 });
    for (const message of ["first", "second", "third"]) await sendMessage(organisation, message, "bounded");
    expect(messagesSentWith("third")).toEqual(["second", "re: second", "third"]);
  });

  test("sends the model at most 2 MiB, the newest, and still counts all turns", async () => {
    const organisation = await createOrganisationWithAgent({ max_history_messages: 1000 });
    const long = Array.from({ length: 5 }, (_, i) => `${i}`.padEnd(240_000, "x"));
    for (const message of long) await sendMessage(organisation, message, "long");
    await sendMessage(organisation, "last", "long");
    const messages = messagesSentWith("last");
    expect(messages.length).toBeGreaterThan(5);
    expect(messages.length).toBeLessThan(10);
    expect(messages.join("").length).toBeLessThanOrEqual(2 ** 21 + 4);
    expect(messages.slice(-3, -1).map((text) => text.length)).toEqual([240_000, 240_004]);
    expect((await listStoredMessages("long")).at(-1)?.turn).toBe(6);
  });

  test("with max_history_messages 0 sends no history, but still stores it", async () => {
    const organisation = await createOrganisationWithAgent({ max_history_messages: 0 });
    for (const message of ["uno", "due"]) await sendMessage(organisation, message, "silent");
    expect(messagesSentWith("due")).toEqual(["due"]);
    expect((await listStoredMessages("silent")).map(({ turn }) => turn)).toEqual([1, 1, 2, 2]);
  });

  test("without session_id there is no history", async () => {
    const organisation = await createOrganisationWithAgent();
    for (const message of ["alone", "alone again"]) await sendMessage(organisation, message);
    expect(messagesSentWith("alone again")).toEqual(["alone again"]);
    expect(await listStoredMessages("")).toEqual([]);
  });

  test("does not mix with another session, agent or organisation", async () => {
    const organisation = await createOrganisationWithAgent();
    await createScriptedAgent(organisation, [], {}, "other-bot");
    const otherOrganisation = await createOrganisationWithAgent();
    await sendMessage(organisation, "secret", "same");
    await sendMessage(organisation, "from another session", "other");
    await sendMessage(organisation, "from another agent", "same", "other-bot");
    await sendMessage(otherOrganisation, "from another organisation", "same");
    await sendMessage(organisation, "from the same", "same");
    for (const message of ["from another session", "from another agent", "from another organisation"])
      expect(messagesSentWith(message)).toEqual([message]);
    expect(messagesSentWith("from the same")).toEqual(["secret", "re: secret", "from the same"]);
  });

  test("does not contain failed turns", async () => {
    const organisation = await createOrganisationWithAgent();
    await sendMessage(organisation, "good", "some fail");
    const bad = { message: "bad", context: { session_id: "some fail" } };
    expect((await invokeAgent(perch(), organisation.adminKey, bad)).status).toBe(422);
    await sendMessage(organisation, "good again", "some fail");
    expect(messagesSentWith("good again")).toEqual(["good", "re: good", "good again"]);
  });

  test("50 sessions run concurrently", async () => {
    const organisation = await createOrganisationWithAgent();
    maxActiveCalls = activeCalls;
    const startedAt = performance.now();
    await Promise.all(
      Array.from({ length: 50 }, (_, i) => sendMessage(organisation, `side by side ${i}`, `lane ${i}`)),
    );
    expect(maxActiveCalls).toBeGreaterThan(10);
    expect(performance.now() - startedAt).toBeLessThan(50 * 500 * 0.4);
  });
});
