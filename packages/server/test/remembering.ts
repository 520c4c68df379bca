import type { Operations, RequestOf } from "@perch/contract";
import { ok } from "./contract-client.ts";
import type { Organisation } from "./harness.ts";

type Added = RequestOf<Operations["POST /v1/agents/{agent_id}/memory"]>["body"];
type Question = RequestOf<Operations["POST /v1/agents/{agent_id}/memory/search"]>["body"];
type Settings = NonNullable<RequestOf<Operations["POST /v1/agents"]>["body"]["memory"]>;

/** An agent with a memory. */
export const rememberer = async ({ call }: Organisation, memory: Settings = {}, name = "bot") =>
  ok(await call("POST /v1/agents", { body: { name, model: "perch/echo", memory } })).data;

export const add = async ({ call }: Organisation, memory: string | Added, agent_id = "bot") =>
  ok(
    await call("POST /v1/agents/{agent_id}/memory", {
      params: { agent_id },
      body: typeof memory === "string" ? { content: memory } : memory,
    }),
  ).data;

export const search = async ({ call }: Organisation, question: string | Question, agent_id = "bot") =>
  ok(
    await call("POST /v1/agents/{agent_id}/memory/search", {
      params: { agent_id },
      body: typeof question === "string" ? { query: question } : question,
    }),
  );

/** What was found, in order. */
export const found = async (org: Organisation, question: string | Question, agent_id = "bot"): Promise<string[]> =>
  (await search(org, question, agent_id)).data.map(({ content }) => content);
