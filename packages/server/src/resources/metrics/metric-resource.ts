import type { Resource } from "../resource.ts";
import { metricHandlers } from "./metric-handlers.ts";

export const metricResource = {
  name: "metrics",
  tables: { run_rollups: { bound: "partitions", agent: "bound" } },
  handlers: metricHandlers,
} as const satisfies Resource;
