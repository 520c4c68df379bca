import type { Operations, RequestOf } from "@perch/contract";
import { ok } from "./contract-client.ts";
import type { Organisation } from "./harness.ts";

type NewMemory = RequestOf<Operations["POST /v1/agents/{agent_id}/memory"]>["body"];
type MemorySearch = RequestOf<Operations["POST /v1/agents/{agent_id}/memory/search"]>["body"];
type MemorySettings = NonNullable<RequestOf<Operations["POST /v1/agents"]>["body"]["memory"]>;

/** Creates an agent with these memory settings. */
export const createAgentWithMemory = async ({ call }: Organisation, memory: MemorySettings = {}, name = "bot") =>
  ok(await call("POST /v1/agents", { body: { name, model: "perch/echo", memory } })).data;

export const addMemory = async ({ call }: Organisation, memory: string | NewMemory, agent_id = "bot") =>
  ok(
    await call("POST /v1/agents/{agent_id}/memory", {
      params: { agent_id },
      body: typeof memory === "string" ? { content: memory } : memory,
    }),
  ).data;

export const searchMemory = async ({ call }: Organisation, query: string | MemorySearch, agent_id = "bot") =>
  ok(
    await call("POST /v1/agents/{agent_id}/memory/search", {
      params: { agent_id },
      body: typeof query === "string" ? { query: query } : query,
    }),
  );

/** The contents of the memories found, best first. */
export const searchMemoryContents = async (
  org: Organisation,
  query: string | MemorySearch,
  agent_id = "bot",
): Promise<string[]> => (await searchMemory(org, query, agent_id)).data.map(({ content }) => content);
