import { z } from "zod";
import { cappedList, Instant, pageQuery, single, Timestamp } from "./envelopes.ts";
import { errorCodes } from "./errors.ts";
import { AgentId, AgentRef, DeploymentId, RequestId } from "./ids.ts";
import { LogEntry } from "./logs.ts";
import type { OperationTable } from "./operation.ts";

export const invocationStatuses = ["running", "completed", "failed", "cancelled"] as const;
export const InvocationStatus = z.enum(invocationStatuses).meta({ id: "InvocationStatus" });
export type InvocationStatus = z.infer<typeof InvocationStatus>;

const mostMessageBytes = 256 * 1024;
const mostContextBytes = 16 * 1024;
const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
const ShortText = z.string().min(1).max(256);

export const InvocationContext = z
  .strictObject({
    user_id: ShortText.optional().describe("Whom the agent is talking to."),
    session_id: ShortText.optional().describe(
      "The conversation: one turn at a time, in order, with what was said before.",
    ),
    environment: ShortText.optional().describe("Which environment answers; `production` unless set."),
    version: ShortText.optional().describe(
      "This version answers, whatever is deployed. Needs a key that may also read; for trying a version out.",
    ),
  })
  .meta({ id: "InvocationContext" });
export type InvocationContext = z.infer<typeof InvocationContext>;

const InvokeAgent = z
  .strictObject({
    message: z
      .string()
      .min(1)
      .refine((text) => bytesOf(text) <= mostMessageBytes, "Larger than 256 KiB"),
    context: InvocationContext.refine(
      (context) => bytesOf(JSON.stringify(context)) <= mostContextBytes,
      "Larger than 16 KiB",
    ).optional(),
  })
  .meta({ id: "InvokeAgent" });

export const InvocationResult = z
  .object({
    response: z.string().describe("The agent's reply."),
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
    version: z.string().nullable().describe("The version that ran; null for the agent's draft."),
    deployment_id: DeploymentId.nullable().describe("The deployment that made it live."),
    user_id: z.string().nullable(),
    session_id: z.string().nullable(),
    message: z.string(),
    response: z.string().nullable(),
    error: z.string().nullable().describe("Why it failed or was cancelled, for a person."),
    steps: z.int().describe("Model calls made."),
    tokens_used: z.int(),
    duration_ms: z.int().nullable(),
    created_at: Timestamp,
    finished_at: Timestamp.nullable(),
    timeline: z
      .array(LogEntry)
      .describe("Its log in order: model calls, tool calls, retries, with their times. Empty until it has ended."),
  })
  .meta({ id: "Invocation" });
export type Invocation = z.infer<typeof Invocation>;

export const InvocationSummary = Invocation.omit({ message: true, response: true, timeline: true }).meta({
  id: "InvocationSummary",
});
export type InvocationSummary = z.infer<typeof InvocationSummary>;

/** The data of the events of a run. The text of a step is `text.slice(0, offset) + token.text`, token by token. */
export const RunEvent = z
  .union([
    z
      .object({
        step: z.int().describe("Which model call says it. Each has a text of its own; the last one's is the answer."),
        offset: z.int().describe("Where in the step's text it goes. What stood there before is replaced."),
        text: z.string(),
      })
      .meta({ id: "TokenEvent", description: "Event `token`." }),
    z
      .object({
        step: z.int(),
        call: z.int().describe("Which of the step's calls."),
        name: z.string(),
        status: z.enum(["started", "completed", "failed"]),
        arguments: z.unknown().optional().describe("When it starts."),
      })
      .meta({ id: "ToolEvent", description: "Event `tool`." }),
    InvocationResult.meta({ description: "Event `done`: the run has completed. The last one." }),
    z
      .object({ code: z.enum(errorCodes), message: z.string(), request_id: RequestId })
      .meta({ id: "RunErrorEvent", description: "Event `error`: the run failed or was cancelled. The last one." }),
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
      "Runs the agent durably and waits for its answer. `Prefer: respond-async` answers 202 at once, `Prefer: wait=N` after N seconds; the run goes on either way, and `Location` says where to read it. With an `Idempotency-Key` a retry joins the first run instead of starting another. `Accept: text/event-stream` streams the events `token`, `tool`, `done` and `error`; a client that leaves does not stop the run, and can come back with `Last-Event-ID`.",
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
    description: "Newest first. `total` is counted up to 10,000; beyond that `total_relation` is `gte`.",
    permission: "read",
    params: z.strictObject({ agent_id: AgentRef }),
    query: z.strictObject({
      ...pageQuery,
      status: InvocationStatus.optional(),
      session_id: ShortText.optional(),
      environment: ShortText.optional(),
      start_time: Instant.optional().describe("From this time on."),
      end_time: Instant.optional().describe("Before this time."),
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
      "`Accept: text/event-stream` follows the run instead, from its beginning or after `Last-Event-ID`, with the same events as invoke.",
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
      "The run stops before its next step and is recorded as `cancelled`. A run that has ended stays as it is.",
    permission: "write",
    params,
    status: 200,
    response: single(Invocation),
    errors: ["not_found"],
  },
} as const satisfies OperationTable;
