import { z } from "zod";
import { boundedRecord } from "./bounded-record.ts";
import { cursorList, cursorQuery, Instant, single, Timestamp } from "./envelopes.ts";
import { AgentRef, RequestId } from "./ids.ts";
import type { OperationTable } from "./operation.ts";

export const logLevels = ["debug", "info", "warn", "error"] as const;
export const LogLevel = z.enum(logLevels).meta({ id: "LogLevel" });
export type LogLevel = z.infer<typeof LogLevel>;

export const LogEntry = z
  .object({
    id: z.string().describe("The same in the list and in the stream. As `cursor`, it leads to the entries before it."),
    timestamp: Timestamp,
    level: LogLevel,
    message: z.string(),
    metadata: z
      .looseObject({ request_id: z.string().nullable() })
      .describe("`request_id`, `environment` and `version` identify the run. Other fields depend on the entry."),
  })
  .meta({ id: "LogEntry" });
export type LogEntry = z.infer<typeof LogEntry>;

const maxMetadataBytes = 16 * 1024;
const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;
const NewLogEntry = z
  .strictObject({
    timestamp: Instant.optional().describe("When it happened, at most 24 hours ago. The default is now."),
    level: LogLevel.default("info"),
    message: z.string().min(1).max(8192),
    request_id: RequestId.optional().describe(
      "The run that the entry belongs to. `metadata.request_id` says the same.",
    ),
    metadata: boundedRecord(z.string().max(100), z.unknown(), maxMetadataBytes / 4)
      .refine((value) => bytesOf(value) <= maxMetadataBytes, "Larger than 16 KiB")
      .default({})
      .describe("A `request_id` in it is the id of the run that the entry belongs to, as in the entries of Get logs."),
  })
  .superRefine(({ request_id, metadata }, { addIssue }) => {
    const refuse = (message: string) => addIssue({ code: "custom", path: ["metadata", "request_id"], message });
    const named = metadata.request_id ?? undefined;
    if (named === undefined) return;
    if (!RequestId.safeParse(named).success)
      refuse("Expected the id of a run, such as req_01h455vb4pex5vsknk084sn02q. Give any other id another name");
    else if (request_id !== undefined && request_id !== named)
      refuse("Names another run than the entry's request_id. Leave one of them out");
  })
  .meta({ id: "NewLogEntry" });

const LogQuery = z.strictObject({
  level: LogLevel.optional(),
  start_time: Instant.optional().describe("Only entries at this time or later. The default is 24 hours ago."),
  end_time: Instant.optional().describe("Only entries before this time."),
  ...cursorQuery,
  request_id: RequestId.optional(),
  environment: z.string().min(1).max(256).optional(),
  version: z.string().min(1).max(256).optional(),
  contains: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(
      "Only entries whose message contains this text. Case is ignored. A long text is searched in fewer entries at a time.",
    ),
});
export type LogQuery = z.output<typeof LogQuery>;

const tag = "Logs and metrics";
const params = z.strictObject({ agent_id: AgentRef });

export const logOperations = {
  "GET /v1/agents/{agent_id}/logs": {
    id: "getLogs",
    tag,
    summary: "Get logs",
    description:
      "Newest first. `total` is exact up to 10,000; above that, `total_relation` is `gte`. A page ends early after 4 MiB, and a request with `environment`, `version` or `contains` reads at most 20,000 entries, with up to 4 MiB of messages: then there may be more although few or none are shown, and `next_cursor` continues. With `Accept: text/event-stream` the response is a stream of new entries that match the same filters; with `start_time` it begins with those since then, and with all entries of runs that have ended since then.",
    permission: "read",
    params,
    query: LogQuery,
    status: 200,
    response: cursorList(LogEntry),
    events: LogEntry,
    errors: ["not_found"],
  },
  "POST /v1/agents/{agent_id}/logs": {
    id: "addLogs",
    tag,
    summary: "Add log entries",
    description: "Lets remote agents and tools add their own entries to the agent's log.",
    permission: "write",
    params,
    body: z.strictObject({ entries: z.array(NewLogEntry).min(1).max(100) }).meta({ id: "AddLogs" }),
    status: 201,
    response: single(z.object({ added: z.int().describe("Number of entries added.") })),
    errors: ["not_found"],
  },
} as const satisfies OperationTable;
export type LogOperationKey = keyof typeof logOperations;
