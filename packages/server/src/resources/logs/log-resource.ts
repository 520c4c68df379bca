import type { Resource } from "../resource.ts";
import { eraseLogs } from "./erase-logs.ts";
import { logHandlers } from "./log-handlers.ts";

export const logResource = {
  name: "logs",
  tables: { log_entries: { bound: "partitions", agent: "bound" } },
  audited: { logs: "log" },
  erasure: {
    stages: () => [eraseLogs],
    receipt: { log_entries: { store: "database", data: "log entries", action: "deleted" } },
  },
  handlers: logHandlers,
} as const satisfies Resource;
