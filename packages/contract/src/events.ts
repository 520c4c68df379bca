import { z } from "zod";
import { cappedList, Instant, pageQuery, single, Timestamp } from "./envelopes.ts";
import { AgentId, AgentRef, EventId } from "./ids.ts";
import type { OperationTable } from "./operation.ts";

/** Events that a webhook can subscribe to. The specification gives the first two. */
export const subscribableEvents = [
  "agent.completed",
  "agent.failed",
  "deployment.activated",
  "deployment.failed",
  "deployment.rolled_back",
  "agent.action_required",
  "connection.needs_reauth",
] as const;
export const SubscribableEventType = z.enum(subscribableEvents).meta({ id: "SubscribableEventType" });
export const eventTypes = [...subscribableEvents, "webhook.test"] as const;
export const EventType = z.enum(eventTypes).meta({ id: "EventType" });
export type EventType = z.infer<typeof EventType>;

export const Event = z
  .object({
    id: EventId,
    type: EventType,
    created_at: Timestamp,
    agent_id: AgentId.nullable().describe("The agent that the event is about, if any."),
    data: z
      .looseObject({})
      .describe(
        "For `agent.*`: request_id, agent_id, environment, version, status, tokens_used, duration_ms, user_id, session_id, and response or error. A response longer than 65,536 characters is cut, and `response_truncated` is true. For `agent.action_required`: the approval, as in the list of approvals. For `deployment.*`: the deployment. For `connection.needs_reauth`: the connection. For `webhook.test`: webhook_id.",
      ),
  })
  .meta({ id: "Event", description: "An event. Also the body of a webhook delivery." });
export type Event = z.infer<typeof Event>;

const tag = "Webhooks";

export const eventOperations = {
  "GET /v1/events": {
    id: "listEvents",
    tag,
    summary: "List events",
    description:
      "Newest first. Events are kept for 30 days. `total` is exact up to 10,000; above that, `total_relation` is `gte`.",
    permission: "read",
    query: z.strictObject({
      ...pageQuery,
      type: EventType.optional(),
      agent_id: AgentRef.min(1).max(128).optional().describe("Only events of this agent (id or name)."),
      start_time: Instant.optional().describe("Only events created at this time or later."),
      end_time: Instant.optional().describe("Only events created before this time."),
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
export type EventOperationKey = keyof typeof eventOperations;
