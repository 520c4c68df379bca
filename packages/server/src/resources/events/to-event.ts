import type { Event, EventType } from "@perch/contract";
import { toPublicId } from "../../platform/ids.ts";
import type { EventRow } from "./event-queries.ts";

type EventFields = Pick<EventRow, "id" | "type" | "created_at" | "agent_id"> & { readonly data: unknown };

/** The API and webhook deliveries show the same event. */
export const toEvent = (row: EventFields): Event => ({
  id: toPublicId("event", row.id),
  type: row.type as EventType,
  created_at: row.created_at.toISOString(),
  agent_id: row.agent_id && toPublicId("agent", row.agent_id),
  data: row.data as Event["data"],
});
