import { afterAll, describe, expect, test } from "vitest";
import { serviceUrl, withClient } from "../../../../scripts/testbed/scratch-database.ts";
import { type Organisation, usePerch } from "../../test/harness.ts";
import { createScriptedAgent, invokeAgent } from "../../test/invoking.ts";
import { lastUserMessage, type ModelCall, startScriptServer } from "../../test/script-server.ts";

let underWay = 0;
let maxUnderWay = 0;
const script = await startScriptServer((call) => {
  const message = lastUserMessage(call);
  const delay_ms = message.startsWith("side by side") ? 500 : message.startsWith("slow") ? 20 : 0;
  underWay += 1;
  maxUnderWay = Math.max(maxUnderWay, underWay);
  setTimeout(() => {
    underWay -= 1;
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

async function say({ adminKey }: Organisation, message: string, session_id?: string, agent = "bot"): Promise<void> {
  const context = session_id === undefined ? {} : { session_id };
  const { status, text, data } = await invokeAgent(perch(), adminKey, { message, context }, { agent });
  if (status !== 200) throw new Error(text);
  expect(data.response).toBe(`re: ${message}`);
}

/** The messages of the last model call that ended with this one. */
function messagesSentWith(message: string): string[] {
  const call = script.calls.findLast((made: ModelCall) => lastUserMessage(made) === message);
  if (!call) throw new Error(`the model was never asked ${message}`);
  return call.messages.map(({ content }) => content);
}

const kept = (session: string): Promise<{ turn: number; role: string; content: string }[]> =>
  withClient(perch().database.adminUrl, async (client) => {
    const { rows } = await client.query(
      "select turn, role, content from session_messages where session_id = $1 order by turn, place",
      [session],
    );
    return rows;
  });

describe("a session", () => {
  test("100 messages from many connections: all in the history, one turn at a time, none interleaved", async () => {
    const organisation = await createOrganisationWithAgent({ max_history_messages: 1000 });
    const messages = Array.from({ length: 100 }, (_, i) => `many ${i}`);
    await Promise.all(messages.map((message) => say(organisation, message, "hundred")));
    const history = await kept("hundred");
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

  test("answers in the order in which messages came", async () => {
    const organisation = await createOrganisationWithAgent();
    const messages = Array.from({ length: 6 }, (_, i) => `slow ${i}`);
    const answers: Promise<void>[] = [];
    for (const message of messages) {
      answers.push(say(organisation, message, "ordered"));
      await new Promise((resolve) => setTimeout(resolve, 80));
    }
    await Promise.all(answers);
    const userMessages = (await kept("ordered")).filter(({ role }) => role === "user").map(({ content }) => content);
    expect(userMessages).toEqual(messages);
  });

  test("shows the model no more than limits.max_history_messages, the newest", async () => {
    const organisation = await createOrganisationWithAgent({ max_history_messages: 2 });
    for (const message of ["first", "second", "third"]) await say(organisation, message, "bounded");
    expect(messagesSentWith("third")).toEqual(["second", "re: second", "third"]);
  });

  test("shows the model no more than 2 MiB, the newest, and counts turns all the same", async () => {
    const organisation = await createOrganisationWithAgent({ max_history_messages: 1000 });
    const long = Array.from({ length: 5 }, (_, i) => `${i}`.padEnd(240_000, "x"));
    for (const message of long) await say(organisation, message, "long");
    await say(organisation, "last", "long");
    const messages = messagesSentWith("last");
    expect(messages.length).toBeGreaterThan(5);
    expect(messages.length).toBeLessThan(10);
    expect(messages.join("").length).toBeLessThanOrEqual(2 ** 21 + 4);
    expect(messages.slice(-3, -1).map((text) => text.length)).toEqual([240_000, 240_004]);
    expect((await kept("long")).at(-1)?.turn).toBe(6);
  });

  test("with max_history_messages 0 shows none, and is kept all the same", async () => {
    const organisation = await createOrganisationWithAgent({ max_history_messages: 0 });
    for (const message of ["uno", "due"]) await say(organisation, message, "silent");
    expect(messagesSentWith("due")).toEqual(["due"]);
    expect((await kept("silent")).map(({ turn }) => turn)).toEqual([1, 1, 2, 2]);
  });

  test("without session_id there is no history", async () => {
    const organisation = await createOrganisationWithAgent();
    for (const message of ["alone", "alone again"]) await say(organisation, message);
    expect(messagesSentWith("alone again")).toEqual(["alone again"]);
    expect(await kept("")).toEqual([]);
  });

  test("does not mix with another session, agent or organisation", async () => {
    const organisation = await createOrganisationWithAgent();
    await createScriptedAgent(organisation, [], {}, "other-bot");
    const outsider = await createOrganisationWithAgent();
    await say(organisation, "secret", "same");
    await say(organisation, "from another session", "other");
    await say(organisation, "from another agent", "same", "other-bot");
    await say(outsider, "from another organisation", "same");
    await say(organisation, "from the same", "same");
    for (const message of ["from another session", "from another agent", "from another organisation"])
      expect(messagesSentWith(message)).toEqual([message]);
    expect(messagesSentWith("from the same")).toEqual(["secret", "re: secret", "from the same"]);
  });

  test("a turn that failed is no part of it", async () => {
    const organisation = await createOrganisationWithAgent();
    await say(organisation, "good", "some fail");
    const bad = { message: "bad", context: { session_id: "some fail" } };
    expect((await invokeAgent(perch(), organisation.adminKey, bad)).status).toBe(500);
    await say(organisation, "good again", "some fail");
    expect(messagesSentWith("good again")).toEqual(["good", "re: good", "good again"]);
  });

  test("50 sessions run side by side", async () => {
    const organisation = await createOrganisationWithAgent();
    maxUnderWay = underWay;
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: 50 }, (_, i) => say(organisation, `side by side ${i}`, `lane ${i}`)));
    expect(maxUnderWay).toBeGreaterThan(10);
    expect(performance.now() - startedAt).toBeLessThan(50 * 500 * 0.4);
  });
});
