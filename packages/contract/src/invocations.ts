import { z } from "zod";
import { cappedList, Instant, pageQuery, single, Timestamp } from "./envelopes.ts";
import { errorCodes } from "./errors.ts";
import { AgentId, AgentRef, DeploymentId, RequestId } from "./ids.ts";
import { LogEntry } from "./logs.ts";
import type { OperationTable } from "./operation.ts";

export const invocationStatuses = ["running", "completed", "failed", "cancelled"] as const;
export const InvocationStatus = z.enum(invocationStatuses).meta({ id: "InvocationStatus" });
export type InvocationStatus = z.infer<typeof InvocationStatus>;

const maxMessageBytes = 256 * 1024;
const maxContextBytes = 16 * 1024;
const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
const ShortText = z.string().min(1).max(256);

export const InvocationContext = z
  .strictObject({
    user_id: ShortText.optional().describe("Your id for the user that the agent talks to."),
    session_id: ShortText.optional().describe(
      "Your id for the conversation. Its runs are processed one at a time, in order, and the model sees its earlier messages.",
    ),
    environment: ShortText.optional().describe(
      "The environment that handles the message. The default is `production`.",
    ),
    version: ShortText.optional().describe(
      "Run this version instead of the deployed one, to try it out. The key also needs the permission `read`.",
    ),
  })
  .meta({ id: "InvocationContext" });
export type InvocationContext = z.infer<typeof InvocationContext>;

const InvokeAgent = z
  .strictObject({
    message: z
      .string()
      .min(1)
      .refine((text) => bytesOf(text) <= maxMessageBytes, "Larger than 256 KiB"),
    context: InvocationContext.refine(
      (context) => bytesOf(JSON.stringify(context)) <= maxContextBytes,
      "Larger than 16 KiB",
    ).optional(),
  })
  .meta({ id: "InvokeAgent" });

export const InvocationResult = z
  .object({
    response: z.string().describe("The agent's response."),
    request_id: RequestId,
    tokens_used: z.int(),
    duration_ms: z.int(),
  })
  .meta({ id: "InvocationResult" });
export type InvocationResult = z.infer<typeof InvocationResult>;

export const Invocation = z
  .object({
    request_id: RequestId,
    agent_id: AgentId,
    status: InvocationStatus,
    environment: z.string(),
    version: z.string().nullable().describe("The version that ran. null for the agent's draft."),
    deployment_id: DeploymentId.nullable().describe("The deployment that served the run, if any."),
    user_id: z.string().nullable(),
    session_id: z.string().nullable(),
    message: z.string(),
    response: z.string().nullable(),
    error: z.string().nullable().describe("Why the run failed or was cancelled."),
    steps: z.int().describe("Number of model calls."),
    tokens_used: z.int(),
    duration_ms: z.int().nullable(),
    created_at: Timestamp,
    finished_at: Timestamp.nullable(),
    timeline: z
      .array(LogEntry)
      .describe(
        "The run's log entries, oldest first: model calls, tool calls and retries. Empty until the run has ended.",
      ),
  })
  .meta({ id: "Invocation" });
export type Invocation = z.infer<typeof Invocation>;

export const InvocationSummary = Invocation.omit({ message: true, response: true, timeline: true }).meta({
  id: "InvocationSummary",
});
export type InvocationSummary = z.infer<typeof InvocationSummary>;

/** Data of a run's events. Apply each token to its step's text: `text.slice(0, offset) + token.text`. */
export const RunEvent = z
  .union([
    z
      .object({
        step: z
          .int()
          .describe(
            "Number of the model call that produced the text. Each step has its own text; the last step's text is the response.",
          ),
        offset: z
          .int()
          .describe("Position in the step's text where this text starts. It replaces everything from there on."),
        text: z.string(),
      })
      .meta({ id: "TokenEvent", description: "Event `token`." }),
    z
      .object({
        step: z.int(),
        call: z.int().describe("Number of the call within the step."),
        name: z.string(),
        status: z.enum(["started", "completed", "failed"]),
        arguments: z.unknown().optional().describe("Only with `started`."),
      })
      .meta({ id: "ToolEvent", description: "Event `tool`." }),
    z.object({ message: z.string() }).meta({
      id: "DroppedEvent",
      description:
        "Event `dropped`: events of the run are missing, because the streams of the organisation hold as much as they may. The run goes on, and `done` has the whole response.",
    }),
    InvocationResult.meta({ description: "Event `done`: the run completed. The last event." }),
    z
      .object({ code: z.enum(errorCodes), message: z.string(), request_id: RequestId })
      .meta({ id: "RunErrorEvent", description: "Event `error`: the run failed or was cancelled. The last event." }),
  ])
  .meta({ id: "RunEvent" });

const params = z.strictObject({ agent_id: AgentRef, request_id: z.string() });
const tag = "Invocations";

export const invocationOperations = {
  "POST /v1/agents/{agent_id}/invoke": {
    id: "invokeAgent",
    tag,
    summary: "Invoke agent",
    description:
      "Runs the agent and waits for its response. A run that was accepted survives restarts of the server. With `Prefer: respond-async` the response is 202 immediately, with `Prefer: wait=N` after at most N seconds; the run continues in the background, and `Location` is its URL. It is 202 immediately too while hundreds of requests of the organisation wait for their runs already. With an `Idempotency-Key`, a retry joins the first run instead of starting another. With `Accept: text/event-stream` the response is a stream of the events `token`, `tool`, `dropped`, `done` and `error`. A client that disconnects does not stop the run, and can resume the stream with `Last-Event-ID`.",
    permission: "write",
    params: z.strictObject({ agent_id: AgentRef }),
    body: InvokeAgent,
    status: 200,
    response: single(InvocationResult),
    accepted: single(z.object({ request_id: RequestId, status: z.literal("running") })),
    events: RunEvent,
    errors: ["not_found", "conflict"],
  },
  "GET /v1/agents/{agent_id}/invocations": {
    id: "listInvocations",
    tag,
    summary: "List invocations",
    description: "Newest first. `total` is exact up to 10,000; above that, `total_relation` is `gte`.",
    permission: "read",
    params: z.strictObject({ agent_id: AgentRef }),
    query: z.strictObject({
      ...pageQuery,
      status: InvocationStatus.optional(),
      session_id: ShortText.optional(),
      environment: ShortText.optional(),
      start_time: Instant.optional().describe("Only runs created at this time or later."),
      end_time: Instant.optional().describe("Only runs created before this time."),
    }),
    status: 200,
    response: cappedList(InvocationSummary),
    errors: ["not_found"],
  },
  "GET /v1/agents/{agent_id}/invocations/{request_id}": {
    id: "getInvocation",
    tag,
    summary: "Get invocation",
    description:
      "With `Accept: text/event-stream` the response is the run's event stream, from its start or after `Last-Event-ID`, with the same events as Invoke agent.",
    permission: "read",
    params,
    status: 200,
    response: single(Invocation),
    events: RunEvent,
    errors: ["not_found"],
  },
  "POST /v1/agents/{agent_id}/invocations/{request_id}/cancel": {
    id: "cancelInvocation",
    tag,
    summary: "Cancel invocation",
    description:
      "The run stops before its next step and gets the status `cancelled`. Cancelling a run that has ended changes nothing.",
    permission: "write",
    params,
    status: 200,
    response: single(Invocation),
    errors: ["not_found"],
  },
} as const satisfies OperationTable;
