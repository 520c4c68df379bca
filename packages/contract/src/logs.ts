import { z } from "zod";
import { Instant, Pagination, single, Timestamp, wholeNumber } from "./envelopes.ts";
import { AgentRef, RequestId } from "./ids.ts";
import type { OperationTable } from "./operation.ts";

export const logLevels = ["debug", "info", "warn", "error"] as const;
export const LogLevel = z.enum(logLevels).meta({ id: "LogLevel" });
export type LogLevel = z.infer<typeof LogLevel>;

export const LogEntry = z
  .object({
    timestamp: Timestamp,
    level: LogLevel,
    message: z.string(),
    metadata: z
      .looseObject({ request_id: z.string().nullable() })
      .describe("`request_id` is the run's, `environment` and `version` say what ran; the rest depends on the entry."),
  })
  .meta({ id: "LogEntry" });
export type LogEntry = z.infer<typeof LogEntry>;

const mostMetadataBytes = 16 * 1024;
const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;
const NewLogEntry = z
  .strictObject({
    timestamp: Instant.optional().describe("When it happened, in the last 24 hours; now unless given."),
    level: LogLevel.default("info"),
    message: z.string().min(1).max(8192),
    request_id: RequestId.optional().describe("The run it belongs to."),
    metadata: z
      .record(z.string().max(100), z.unknown())
      .refine((value) => bytesOf(value) <= mostMetadataBytes, "Larger than 16 KiB")
      .default({}),
  })
  .meta({ id: "NewLogEntry" });

const LogQuery = z.strictObject({
  level: LogLevel.optional(),
  start_time: Instant.optional().describe("From this time on; the last 24 hours unless set."),
  end_time: Instant.optional().describe("Before this time."),
  limit: wholeNumber({ min: 1, max: 1000, default: 100, description: "Entries on a page." }),
  offset: wholeNumber({ min: 0, max: 100_000, default: 0, description: "Entries to skip. `cursor` costs less." }),
  cursor: z.string().max(200).optional().describe("`pagination.next_cursor` of the page before."),
  request_id: RequestId.optional(),
  environment: z.string().min(1).max(256).optional(),
  version: z.string().min(1).max(256).optional(),
  contains: z.string().min(1).max(200).optional().describe("In the message, in whatever case."),
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
      "Newest first. `total` is counted up to 10,000; beyond that `total_relation` is `gte`. `Accept: text/event-stream` follows new entries instead, with the same filters.",
    permission: "read",
    params,
    query: LogQuery,
    status: 200,
    response: z.object({
      data: z.array(LogEntry),
      pagination: Pagination.extend({ total_relation: z.enum(["eq", "gte"]), next_cursor: z.string().nullable() }).meta(
        {
          id: "LogPagination",
        },
      ),
    }),
    events: LogEntry,
    errors: ["not_found"],
  },
  "POST /v1/agents/{agent_id}/logs": {
    id: "addLogs",
    tag,
    summary: "Add log entries",
    description: "For remote agents and tools: what they did, beside what Perch saw.",
    permission: "write",
    params,
    body: z.strictObject({ entries: z.array(NewLogEntry).min(1).max(100) }).meta({ id: "AddLogs" }),
    status: 201,
    response: single(z.object({ added: z.int() })),
    errors: ["not_found"],
  },
} as const satisfies OperationTable;
