import type { Resource } from "../resource.ts";
import { eventHandlers } from "./event-handlers.ts";
import { findEvent } from "./event-queries.ts";

export const eventResource = {
  name: "events",
  tables: { events: { bound: "partitions", agent: "bound" } },
  agentOf: { event: async (trx, scope, id) => (await findEvent(trx, scope, id))?.agent_id },
  erasure: { receipt: { events: { store: "database", data: "events", action: "redacted" } } },
  handlers: eventHandlers,
} as const satisfies Resource;
