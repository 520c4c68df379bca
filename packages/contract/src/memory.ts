import { z } from "zod";
import { boundedRecord } from "./bounded-record.ts";
import { cappedList, Instant, Pagination, pageQuery, single, Timestamp } from "./envelopes.ts";
import { AgentRef, ClearId, MemoryId, RequestId } from "./ids.ts";
import type { OperationTable } from "./operation.ts";

const ShortText = z.string().min(1).max(256);
export const maxMemoryLength = 8192;
const maxMetadataBytes = 4 * 1024;
const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;
/** No more fit into its bytes. */
const maxMetadataEntries = maxMetadataBytes / 4;
const Metadata = boundedRecord(z.string().max(100), z.unknown(), maxMetadataEntries).refine(
  (value) => bytesOf(value) <= maxMetadataBytes,
  "Larger than 4 KiB",
);

export const Memory = z
  .object({
    id: MemoryId,
    content: z.string(),
    user_id: z.string().nullable().describe("The user that the memory belongs to. null if it belongs to no user."),
    session_id: z.string().nullable(),
    source_request_id: RequestId.nullable().describe(
      "The run that stored the memory. null if it was added through the API.",
    ),
    metadata: z.record(z.string(), z.unknown()),
    created_at: Timestamp,
    updated_at: Timestamp.describe(
      "When the content was last stored. The same content of the same user is one memory.",
    ),
  })
  .meta({ id: "Memory" });
export type Memory = z.infer<typeof Memory>;

const VectorPart = z
  .object({
    rank: z.int().describe("Rank among the results of the vector search, starting at 1."),
    similarity: z.number().describe("Cosine similarity of query and memory. 1 means identical."),
    contribution: z.number().describe("What this part adds to the score."),
  })
  .meta({ id: "VectorPart" });
const TextPart = z
  .object({
    rank: z.int().describe("Rank among the results of the text search, starting at 1."),
    coverage: z
      .number()
      .describe("Share of the query's words that the memory contains, from 0 to 1. Rare words count more."),
    words: z.array(z.string()).describe("The words that matched, in their indexed form."),
    contribution: z.number().describe("What this part adds to the score."),
  })
  .meta({ id: "TextPart" });

export const MemoryHit = Memory.extend({
  score: z.number().describe("Sum of the contributions. Only comparable within one search."),
  score_parts: z.object({
    vector: VectorPart.nullable().describe("null if the vector search did not find it."),
    text: TextPart.nullable().describe("null if the text search did not find it."),
  }),
}).meta({ id: "MemoryHit" });
export type MemoryHit = z.infer<typeof MemoryHit>;

export const searchModes = ["hybrid", "vector", "text"] as const;
export const SearchMode = z.enum(searchModes).meta({ id: "SearchMode" });
export type SearchMode = z.infer<typeof SearchMode>;

const SearchMemory = z
  .strictObject({
    query: z.string().min(1).max(maxMemoryLength),
    limit: z.int().min(1).max(100).default(10).describe("Maximum number of results to return."),
    offset: z.int().min(0).default(0).describe("Number of results to skip."),
    mode: SearchMode.default("hybrid").describe("`vector` searches by meaning, `text` by words, `hybrid` by both."),
    user_id: ShortText.optional().describe("Only memories of this user."),
    session_id: ShortText.optional().describe("Only memories of this session."),
    start_time: Instant.optional().describe("Only memories last stored at this time or later."),
    end_time: Instant.optional().describe("Only memories last stored before this time."),
    metadata: Metadata.optional().describe("Only memories whose metadata contains these values."),
  })
  .meta({ id: "SearchMemory" });
export type SearchMemory = z.infer<typeof SearchMemory>;

const SearchReport = z
  .object({
    mode: SearchMode.describe("How the search was done. `text` if the embedder was not available."),
    exact: z
      .boolean()
      .describe("Whether every candidate was compared. Large memories are searched with an approximate index."),
    notice: z.string().nullable().describe("Note about this search, such as why only the text search was used."),
  })
  .meta({ id: "SearchReport" });

const AddMemory = z
  .strictObject({
    content: z.string().trim().min(1).max(maxMemoryLength),
    user_id: ShortText.optional().describe(
      "The user that the memory belongs to. Without it, runs for all users can recall the memory.",
    ),
    session_id: ShortText.optional(),
    metadata: Metadata.default({}),
  })
  .meta({ id: "AddMemory" });

const ClearQuery = z.strictObject({
  user_id: ShortText.optional().describe("Only memories and messages of this user."),
  session_id: ShortText.optional().describe("Only memories and messages of this session."),
  before: Instant.optional().describe("Only memories and messages last stored before this time."),
});

export const MemoryClear = z
  .object({
    id: ClearId,
    status: z
      .enum(["running", "completed"])
      .describe("While it is `running`, the memories it removes are already hidden."),
    memories_deleted: z.int().describe("Memories deleted so far."),
    messages_deleted: z.int().describe("Session messages deleted so far."),
    user_id: z.string().nullable(),
    session_id: z.string().nullable(),
    before: Timestamp.nullable(),
    created_at: Timestamp,
    completed_at: Timestamp.nullable(),
  })
  .meta({ id: "MemoryClear" });
export type MemoryClear = z.infer<typeof MemoryClear>;

export const MemoryStatus = z
  .object({
    memories: z.int().describe("Number of stored memories, including those that a running clear has yet to delete."),
    max_memories: z
      .int()
      .describe("Maximum number of memories for this agent. Above it, those stored longest ago are deleted."),
    embedder: z
      .object({ model: z.string(), dimensions: z.int() })
      .describe("The model that embeds the agent's memories."),
    pending_embeddings: z
      .int()
      .describe("Number of memories not yet embedded, counted up to 10,000. The text search finds them already."),
    clearing: z.boolean().describe("Whether a clear is running."),
  })
  .meta({ id: "MemoryStatus" });

const params = z.strictObject({ agent_id: AgentRef });
const memoryParams = z.strictObject({ agent_id: AgentRef, memory_id: z.string() });
const tag = "Memory";
const errors = ["not_found"] as const;

export const memoryOperations = {
  "POST /v1/agents/{agent_id}/memory/search": {
    id: "searchMemory",
    tag,
    summary: "Search memory",
    description:
      "Merges the 100 memories that are nearest by meaning and the 100 that match best by words, best first: these are the results, at most 200, and `total` is their number. If the embedder is not available, only the words are searched, and `search.notice` says so. An `Idempotency-Key` is ignored: a search changes nothing.",
    permission: "read",
    readOnly: true,
    params,
    body: SearchMemory,
    status: 200,
    response: z.object({ data: z.array(MemoryHit), pagination: Pagination, search: SearchReport }),
    errors: ["not_found", "conflict"],
  },
  "POST /v1/agents/{agent_id}/memory": {
    id: "addMemory",
    tag,
    summary: "Add memory",
    description: "The same content of the same user is stored once. Adding it again makes it the newest.",
    permission: "write",
    params,
    body: AddMemory,
    status: 201,
    response: single(Memory),
    errors,
  },
  "GET /v1/agents/{agent_id}/memory": {
    id: "listMemories",
    tag,
    summary: "List memories",
    description: "Most recently stored first. `total` is exact up to 10,000; above that, `total_relation` is `gte`.",
    permission: "read",
    params,
    query: z.strictObject({ ...pageQuery, user_id: ShortText.optional(), session_id: ShortText.optional() }),
    status: 200,
    response: cappedList(Memory),
    errors,
  },
  "GET /v1/agents/{agent_id}/memory/status": {
    id: "getMemoryStatus",
    tag,
    summary: "Get memory status",
    description: "Number of memories, and the progress of embedding them.",
    permission: "read",
    params,
    status: 200,
    response: single(MemoryStatus),
    errors,
  },
  "GET /v1/agents/{agent_id}/memory/{memory_id}": {
    id: "getMemory",
    tag,
    summary: "Get memory",
    permission: "read",
    params: memoryParams,
    status: 200,
    response: single(Memory),
    errors,
  },
  "DELETE /v1/agents/{agent_id}/memory/{memory_id}": {
    id: "deleteMemory",
    tag,
    summary: "Delete memory",
    permission: "delete",
    params: memoryParams,
    status: 200,
    response: single(z.object({ id: MemoryId, deleted: z.literal(true) })),
    errors,
  },
  "DELETE /v1/agents/{agent_id}/memory": {
    id: "clearMemory",
    tag,
    summary: "Clear memory",
    description:
      "Deletes memories and session messages. They are hidden as soon as this returns; a large clear answers 202 and goes on deleting in the background. Records of runs and logs are not deleted: they expire.",
    permission: "delete",
    params,
    query: ClearQuery,
    status: 200,
    response: single(MemoryClear),
    accepted: single(MemoryClear),
    errors,
  },
  "GET /v1/agents/{agent_id}/memory/clears/{clear_id}": {
    id: "getMemoryClear",
    tag,
    summary: "Get memory clear",
    description: "Progress of a clear that runs in the background.",
    permission: "read",
    params: z.strictObject({ agent_id: AgentRef, clear_id: z.string() }),
    status: 200,
    response: single(MemoryClear),
    errors,
  },
} as const satisfies OperationTable;
export type MemoryOperationKey = keyof typeof memoryOperations;
