import type { Event, EventType } from "@perch/contract";
import { toPublicId } from "../platform/ids.ts";
import type { EventRow } from "./event-queries.ts";

type Told = Pick<EventRow, "id" | "type" | "created_at" | "agent_id"> & { readonly data: unknown };

/** As the API shows it, and as it is delivered: both are the same. */
export const toEvent = (row: Told): Event => ({
  id: toPublicId("event", row.id),
  type: row.type as EventType,
  created_at: row.created_at.toISOString(),
  agent_id: row.agent_id && toPublicId("agent", row.agent_id),
  data: row.data as Event["data"],
});
