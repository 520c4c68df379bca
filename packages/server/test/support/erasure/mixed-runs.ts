import { randomBytes } from "node:crypto";
import { lastUserMessage, type ScriptServer, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { ok } from "../contract-client.ts";
import type { Organisation, Perch } from "../harness.ts";
import { createScriptedAgent, invokeAgent, invokeInBackground } from "../invoke-calls.ts";
import { insertLostConnection } from "./lost-connections.ts";

/** A user, and a word that is in everything that is stored about them: ids, texts, metadata, arguments of tools. */
export interface MarkedUser {
  readonly id: string;
  readonly word: string;
}

export const createUsers = (count: number): MarkedUser[] =>
  Array.from({ length: count }, (_, n) => {
    const word = `w${n}x${randomBytes(6).toString("hex")}`;
    return { id: `user/${word}@example.com`, word };
  });

/** Calls a tool with the user's message, and repeats it. */
export const startTalkingModel = (): Promise<ScriptServer> =>
  startScriptServer((call) => {
    const text = lastUserMessage(call);
    if (text.startsWith("ask") && call.step === 1)
      return { tool_calls: [{ name: "ask_person", arguments: { question: `May ${text}?` } }] };
    return call.step === 1
      ? { tool_calls: [{ name: "perch_echo", arguments: { text } }] }
      : { reply: `I heard: ${text}`, delay_ms: text.includes("slow") ? 2500 : 0 };
  });

/** Agents that store as much as they can: memories, contents of steps, sessions. */
export async function createAgents(organisation: Organisation): Promise<void> {
  const { call } = organisation;
  await createScriptedAgent(organisation, [], {}, "tools");
  await createScriptedAgent(organisation, [{ reply: "It broke: {message}", fail: "permanent" }], {}, "broken");
  ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo", logs: "full" } }));
  const memory = { remember: true, recall: true };
  ok(await call("POST /v1/agents", { body: { name: "rememberer", model: "perch/echo", memory } }));
  for (const agent_id of ["tools", "rememberer"])
    ok(await call("PATCH /v1/agents/{agent_id}", { params: { agent_id }, body: { logs: "full" } }));
}

type Act = (perch: Perch, organisation: Organisation, user: MarkedUser, n: number) => Promise<unknown>;

const invoke =
  (agent: string, extra: object = {}): Act =>
  async (perch, { adminKey }, { id, word }, n) =>
    invokeAgent(
      perch,
      adminKey,
      { message: `message ${n} of ${word}`, context: { user_id: id, ...extra } },
      { agent, headers: { "idempotency-key": `run-${n}-${word.slice(0, 3)}` } },
    );

/** The actions of users, by turns. */
const acts: readonly Act[] = [
  invoke("bot"),
  async (perch, organisation, user, n) =>
    invoke("bot", { session_id: `chat-${user.word}` })(perch, organisation, user, n),
  invoke("tools"),
  invoke("rememberer"),
  invoke("broken"),
  (perch, { adminKey }, { id, word }, n) =>
    invokeInBackground(perch, adminKey, { message: `later ${n} ${word}`, context: { user_id: id } }),
  async ({ url }, { adminKey }, { id, word }, n) => {
    const answer = await fetch(`${url}/v1/agents/bot/memory`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${adminKey}`,
        "content-type": "application/json",
        "idempotency-key": `memory-${n}-${word.slice(0, 3)}`,
      },
      body: JSON.stringify({ content: `fact ${n} about ${word}`, user_id: id, metadata: { of: word } }),
    });
    if (answer.status !== 201) throw new Error(await answer.text());
  },
  async (perch, { adminKey }, { id, word }, n) => {
    const run = await invokeInBackground(perch, adminKey, { message: `stop ${n} ${word}`, context: { user_id: id } });
    const answer = await fetch(`${perch.url}/v1/agents/bot/invocations/${run}/cancel`, {
      method: "POST",
      headers: { authorization: `Bearer ${adminKey}`, "idempotency-key": `cancel-${n}-${word.slice(0, 3)}` },
    });
    if (answer.status !== 200) throw new Error(await answer.text());
  },
  async (_, { call }, { id, word }, n) =>
    ok(
      await call("POST /v1/agents/{agent_id}/logs", {
        params: { agent_id: "tools" },
        body: { entries: [{ level: "info", message: `entry ${n} of ${word}`, metadata: { user_id: id } }] },
      }),
    ),
  async (_, { call }, { id, word }) =>
    ok(
      await call("DELETE /v1/agents/{agent_id}/memory", {
        params: { agent_id: "broken" },
        query: { user_id: id, session_id: `chat-${word}` },
      }),
    ),
  async (perch, organisation, { id: userId }, n) => {
    const tool = { type: "http", name: `mailbox-${n}`, url: "https://mail.example" } as const;
    return insertLostConnection(perch, organisation, { userId, tool, configuration: { revocationEndpoint: null } });
  },
];
export const kindsOfActs = acts.length;

/** `count` acts in all, by each user in turn, a few at a time. */
export async function act(
  perch: Perch,
  organisation: Organisation,
  users: readonly MarkedUser[],
  count: number,
  together = 8,
): Promise<void> {
  let next = 0;
  const work = async () => {
    for (let n = next++; n < count; n = next++) {
      const user = users[n % users.length];
      const perform = acts[Math.floor(n / users.length) % acts.length];
      if (user && perform) await perform(perch, organisation, user, n);
    }
  };
  await Promise.all(Array.from({ length: together }, work));
}
