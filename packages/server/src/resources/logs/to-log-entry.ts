import { type LogEntry, logLevels } from "@perch/contract";
import { toPublicId } from "../../platform/ids.ts";
import type { LogRow } from "./log-queries.ts";
import { toCursor } from "./log-rules.ts";
import { fromStoredMetadata, type Metadata } from "./stored-metadata.ts";

export const toLogEntry = ({ at, id, level, message, metadata, invocation_id, line }: LogRow): LogEntry => ({
  id: toCursor({ at, id }),
  timestamp: at.toISOString(),
  level: logLevels[level] ?? "info",
  message,
  metadata: {
    ...(line === null ? (metadata as Metadata) : fromStoredMetadata(metadata)),
    request_id: invocation_id && toPublicId("request", invocation_id),
  },
});
