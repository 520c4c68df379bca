import { z } from "zod";
import { Instant, Pagination, pageQuery, single, Timestamp } from "./envelopes.ts";
import { AgentRef, ClearId, MemoryId, RequestId } from "./ids.ts";
import type { OperationTable } from "./operation.ts";

const ShortText = z.string().min(1).max(256);
export const mostMemoryLength = 8192;
const mostMetadataBytes = 4 * 1024;
const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;
const Metadata = z
  .record(z.string().max(100), z.unknown())
  .refine((value) => bytesOf(value) <= mostMetadataBytes, "Larger than 4 KiB");

export const Memory = z
  .object({
    id: MemoryId,
    content: z.string(),
    user_id: z.string().nullable().describe("Whose it is; null where it belongs to nobody."),
    session_id: z.string().nullable(),
    source_request_id: RequestId.nullable().describe("The run that remembered it; null where somebody added it."),
    metadata: z.record(z.string(), z.unknown()),
    created_at: Timestamp,
    updated_at: Timestamp.describe("When it was last said. The same content of one user is one memory."),
  })
  .meta({ id: "Memory" });
export type Memory = z.infer<typeof Memory>;

const VectorPart = z
  .object({
    rank: z.int().describe("Its place among the hits by meaning, from 1."),
    similarity: z.number().describe("Cosine of query and memory: 1 is the same meaning."),
    contribution: z.number().describe("What this part adds to the score."),
  })
  .meta({ id: "VectorPart" });
const TextPart = z
  .object({
    rank: z.int().describe("Its place among the hits by words, from 1."),
    coverage: z.number().describe("How much of the query's words it has, rare words counting more: 0 to 1."),
    words: z.array(z.string()).describe("The words that matched, in the form they are indexed in."),
    contribution: z.number().describe("What this part adds to the score."),
  })
  .meta({ id: "TextPart" });

export const MemoryHit = Memory.extend({
  score: z.number().describe("Sum of the contributions. It orders the hits of one search and means nothing beyond."),
  score_parts: z.object({
    vector: VectorPart.nullable().describe("null: not among the hits by meaning."),
    text: TextPart.nullable().describe("null: not among the hits by words."),
  }),
}).meta({ id: "MemoryHit" });
export type MemoryHit = z.infer<typeof MemoryHit>;

export const searchModes = ["hybrid", "vector", "text"] as const;
export const SearchMode = z.enum(searchModes).meta({ id: "SearchMode" });
export type SearchMode = z.infer<typeof SearchMode>;

const SearchMemory = z
  .strictObject({
    query: z.string().min(1).max(mostMemoryLength),
    limit: z.int().min(1).max(100).default(10),
    mode: SearchMode.default("hybrid").describe("By meaning and by words, or by one of them."),
    user_id: ShortText.optional().describe("Memories of this user alone."),
    session_id: ShortText.optional().describe("Memories of this session alone."),
    start_time: Instant.optional().describe("Last said at this time or later."),
    end_time: Instant.optional().describe("Last said before this time."),
    metadata: Metadata.optional().describe("Memories whose metadata contain this."),
  })
  .meta({ id: "SearchMemory" });
export type SearchMemory = z.infer<typeof SearchMemory>;

const SearchReport = z
  .object({
    mode: SearchMode.describe("What was searched by. `text` where the embedder could not be asked."),
    exact: z
      .boolean()
      .describe("Whether every memory in question was compared. Large agents are searched by an index."),
    notice: z
      .string()
      .nullable()
      .describe("What is worth knowing about this search, such as why it went by words alone."),
  })
  .meta({ id: "SearchReport" });

const AddMemory = z
  .strictObject({
    content: z.string().trim().min(1).max(mostMemoryLength),
    user_id: ShortText.optional().describe("Whose it is. Without it, runs for every user may recall it."),
    session_id: ShortText.optional(),
    metadata: Metadata.default({}),
  })
  .meta({ id: "AddMemory" });

const ClearQuery = z.strictObject({
  user_id: ShortText.optional().describe("Only what belongs to this user."),
  session_id: ShortText.optional().describe("Only what belongs to this session."),
  before: Instant.optional().describe("Only what was last said before this time."),
});

export const MemoryClear = z
  .object({
    id: ClearId,
    status: z.enum(["running", "completed"]).describe("While it runs, what it removes is out of sight already."),
    memories_deleted: z.int().describe("So far."),
    messages_deleted: z.int().describe("Messages of sessions, so far."),
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
    memories: z.int().describe("All that is stored, with what a running clear has yet to remove."),
    most_memories: z.int().describe("How many the agent may have. Past it the ones said longest ago go."),
    embedder: z.object({ model: z.string(), dimensions: z.int() }).describe("What memories are embedded with."),
    waiting: z.int().describe("Memories yet to be embedded, counted to 10,000. Words find them already."),
    clearing: z.boolean(),
  })
  .meta({ id: "MemoryStatus" });

const counted = Pagination.extend({
  total_relation: z.enum(["eq", "gte"]).describe("`gte`: there are more than `total`, which is counted to 10,000."),
});

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
      "By meaning and by words at once: what only one of the two finds is found. Where no embedder answers, it goes by words alone and says so.",
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
    description: "The same content of the same user is kept once: adding it again makes it the newest.",
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
    description: "The one last said comes first.",
    permission: "read",
    params,
    query: z.strictObject({ ...pageQuery, user_id: ShortText.optional(), session_id: ShortText.optional() }),
    status: 200,
    response: z.object({ data: z.array(Memory), pagination: counted }),
    errors,
  },
  "GET /v1/agents/{agent_id}/memory/status": {
    id: "getMemoryStatus",
    tag,
    summary: "Get memory status",
    description: "How much there is, and how far embedding has come after the embedder was changed.",
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
      "Memories and what was said in sessions. It is out of sight when this returns; a large clear goes on removing in the background, and answers 202. Records of runs and logs are not memory: they expire by themselves.",
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
    summary: "Get clear",
    description: "How far a clear has come.",
    permission: "read",
    params: z.strictObject({ agent_id: AgentRef, clear_id: z.string() }),
    status: 200,
    response: single(MemoryClear),
    errors,
  },
} as const satisfies OperationTable;
