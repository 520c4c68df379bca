import { z } from "zod";
import { cappedList, Instant, pageQuery, single, Timestamp } from "./envelopes.ts";
import { AgentId, AgentRef, EventId } from "./ids.ts";
import type { OperationTable } from "./operation.ts";

/** What a webhook can ask for. The first two are given; the rest are ours. */
export const subscribableEvents = [
  "agent.completed",
  "agent.failed",
  "deployment.activated",
  "deployment.failed",
  "deployment.rolled_back",
] as const;
export const eventTypes = [...subscribableEvents, "webhook.test"] as const;
export const EventType = z.enum(eventTypes).meta({ id: "EventType" });
export type EventType = z.infer<typeof EventType>;

export const Event = z
  .object({
    id: EventId,
    type: EventType,
    created_at: Timestamp,
    agent_id: AgentId.nullable().describe("The agent it is about; null where it is about none."),
    data: z
      .looseObject({})
      .describe(
        "Of `agent.…`: request_id, agent_id, environment, version, status, tokens_used, duration_ms, user_id, session_id, and response or error; a response of more than 65,536 characters is cut, and `response_truncated` says so. Of `deployment.…`: the deployment. Of `webhook.test`: webhook_id.",
      ),
  })
  .meta({ id: "Event", description: "Also the body of a delivery." });
export type Event = z.infer<typeof Event>;

const tag = "Webhooks";

export const eventOperations = {
  "GET /v1/events": {
    id: "listEvents",
    tag,
    summary: "List events",
    description:
      "Newest first, kept for 30 days. `total` is counted up to 10,000; beyond that `total_relation` is `gte`.",
    permission: "read",
    query: z.strictObject({
      ...pageQuery,
      type: EventType.optional(),
      agent_id: AgentRef.min(1).max(128).optional().describe("Only events of this agent (id or name)."),
      start_time: Instant.optional().describe("From this time on."),
      end_time: Instant.optional().describe("Before this time."),
    }),
    status: 200,
    response: cappedList(Event),
    errors: ["not_found"],
  },
  "GET /v1/events/{event_id}": {
    id: "getEvent",
    tag,
    summary: "Get event",
    permission: "read",
    params: z.strictObject({ event_id: z.string().min(1) }),
    status: 200,
    response: single(Event),
    errors: ["not_found"],
  },
} as const satisfies OperationTable;
