import { agentDefaults, type EmbedderSettings } from "@perch/contract";
import type { AgentRow } from "../agents/agent-queries.ts";
import { storedDefinition } from "../agents/to-agent.ts";
import type { FindEmbedder } from "../providers/find-embedder.ts";
import { embedderName } from "./memory-rules.ts";

/** A vector as the database takes it, and the embedder that made it: only vectors of one embedder are comparable. */
export interface EmbeddedText {
  readonly embedder: string;
  readonly dimensions: number;
  readonly embedding: string;
}

/** Embeds one text while a request waits for it. Throws as embedders do, on timeout, and when the client has gone. */
export type EmbedText = (
  organisationId: string,
  settings: EmbedderSettings,
  text: string,
  clientGone?: AbortSignal,
) => Promise<EmbeddedText>;

/** After this long a request continues without the vector: full-text search still works. */
const embedTimeoutMs = 5000;

export const toVector = (values: readonly number[]): string => `[${values.join(",")}]`;

export const createEmbedText =
  (findEmbedder: FindEmbedder): EmbedText =>
  async (organisationId, settings, text, clientGone) => {
    const timeout = AbortSignal.timeout(embedTimeoutMs);
    const signal = clientGone ? AbortSignal.any([timeout, clientGone]) : timeout;
    const { embed } = await findEmbedder(organisationId, settings);
    const [vector = []] = await embed([text], signal);
    return { embedder: embedderName(settings), dimensions: settings.dimensions, embedding: toVector(vector) };
  };

/** The draft's embedder: memory belongs to the agent and not to a version. A definition may be older than the setting. */
export const embedderOf = (agent: AgentRow): EmbedderSettings =>
  storedDefinition(agent).definition.memory.embedder ?? agentDefaults.memory.embedder;
