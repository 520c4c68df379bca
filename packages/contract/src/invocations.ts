import { z } from "zod";
import {
  cappedList,
  Instant,
  optionalWholeNumber,
  pageQuery,
  single,
  Timestamp,
  uncountedList,
  uncountedQuery,
} from "./envelopes.ts";
import { type ErrorCode, errorCodes } from "./errors.ts";
import { AgentId, AgentRef, ApprovalId, DeploymentId, RequestId } from "./ids.ts";
import { LogEntry } from "./logs.ts";
import type { OperationTable } from "./operation.ts";

export const invocationStatuses = ["running", "waiting", "completed", "failed", "cancelled"] as const;
export const InvocationStatus = z
  .enum(invocationStatuses)
  .describe(
    "`waiting`: for a person's decision or answer, or for an earlier run of its session that waits for one. The run goes on after it.",
  )
  .meta({ id: "InvocationStatus" });
export type InvocationStatus = z.infer<typeof InvocationStatus>;

/** How a failed run is answered. */
const failureCodes = ["run_failed", "server_error"] as const satisfies ErrorCode[];

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
      "Run this version instead of the deployed one, to try it out; `draft` runs the agent's draft. The key also needs the permission `read`.",
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
    error_code: z
      .enum(failureCodes)
      .nullable()
      .describe(
        "`run_failed`: by the doing of the agent, of its limits, or of what it calls. `server_error`: Perch itself failed. null unless the run failed.",
      ),
    retryable: z
      .boolean()
      .nullable()
      .describe(
        "Whether a new run of the same message can succeed without a change to the agent. null unless the run failed.",
      ),
    steps: z.int().describe("Number of model calls."),
    tokens_used: z.int(),
    duration_ms: z.int().nullable(),
    created_at: Timestamp,
    finished_at: Timestamp.nullable(),
    timeline: z
      .array(LogEntry)
      .describe(
        "The run's log entries, oldest first: model calls, tool calls and retries. Empty until the run ends or begins to wait, and for keys that see the run only because they started it.",
      ),
  })
  .meta({ id: "Invocation" });
export type Invocation = z.infer<typeof Invocation>;

export const InvocationSummary = Invocation.omit({ message: true, response: true, timeline: true }).meta({
  id: "InvocationSummary",
});
export type InvocationSummary = z.infer<typeof InvocationSummary>;

export const InvocationOfAnyAgent = InvocationSummary.extend({ agent_name: z.string() }).meta({
  id: "InvocationOfAnyAgent",
});
export type InvocationOfAnyAgent = z.infer<typeof InvocationOfAnyAgent>;

const AllInvocationsQuery = z.strictObject({
  ...uncountedQuery,
  request_id: RequestId.optional().describe("Only this run: finds its agent where only the run's id is known."),
  agent_id: AgentRef.min(1).max(128).optional().describe("Only runs of this agent (id or name)."),
  status: InvocationStatus.optional(),
  user_id: ShortText.optional(),
  session_id: ShortText.optional().describe("Only runs of this conversation. Fast together with `agent_id`."),
  environment: ShortText.optional(),
  version: ShortText.optional().describe("Only runs of this version; `draft` for runs of a draft."),
  deployment_id: DeploymentId.optional().describe("Only runs that this deployment served."),
  min_duration_ms: optionalWholeNumber({
    min: 0,
    max: 2_147_483_647,
    description: "Only runs that have ended and took at least this long.",
  }),
  start_time: Instant.optional().describe("Only runs created at this time or later."),
  end_time: Instant.optional().describe("Only runs created before this time."),
});
export type AllInvocationsQuery = z.output<typeof AllInvocationsQuery>;

/** `retried`: this attempt failed, and another follows. `interrupted`: it has no result, and begins again. */
const StepStatus = z
  .enum(["started", "completed", "failed", "retried", "interrupted"])
  .describe(
    "`retried`: this attempt failed, and another follows. `interrupted`: the worker was lost, or the step failed in the server, and it begins again.",
  )
  .meta({ id: "StepStatus" });
const failedAttempt = {
  reason: z.string().optional().describe("Why the attempt failed."),
  retry_after_ms: z.int().optional().describe("With `retried`: how long the run waits before the next attempt."),
};

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
        attempt: z.int().describe("Which attempt of the call this is, from 1."),
        status: StepStatus,
        arguments: z.unknown().optional().describe("Only with `started`, and not where the agent's `logs` is `off`."),
        output: z
          .unknown()
          .optional()
          .describe("The result of the tool: its text where the agent's `logs` is `full`, its shape with `shapes`."),
        ...failedAttempt,
      })
      .meta({ id: "ToolEvent", description: "Event `tool`: a tool call begins or ends." }),
    z
      .object({
        step: z.int().describe("Number of the model call. 0: before the first."),
        kind: z.enum(["model", "tools", "memory"]),
        name: z.string().describe("The model, or the MCP servers whose tools are listed."),
        attempt: z.int().describe("Which attempt this is, from 1."),
        status: StepStatus,
        tokens: z.int().optional(),
        ...failedAttempt,
      })
      .meta({
        id: "StepEvent",
        description:
          "Event `step`: a model call, the listing of tools or the recall of memories begins or ends, or waits for its next attempt.",
      }),
    z.object({ message: z.string() }).meta({
      id: "DroppedEvent",
      description:
        "Event `dropped`: events of the run are missing, because the streams of the organisation hold as much as they may. The run goes on, and `done` has the whole response.",
    }),
    z
      .object({
        request_id: RequestId,
        message: z.string(),
        approvals: z
          .array(
            z.object({
              id: ApprovalId,
              kind: z.enum(["tool", "question"]),
              tool: z.string(),
              step: z.int(),
              call: z.int().describe("Number of the call within the step."),
            }),
          )
          .describe("What the run waits for. Empty where it waits for its turn in the session."),
      })
      .meta({
        id: "ActionRequiredEvent",
        description:
          "Event `action_required`: the run waits for a person, and the stream ends. After the decision, follow the run again at `GET /v1/agents/{agent_id}/invocations/{request_id}` with `Last-Event-ID`.",
      }),
    InvocationResult.meta({ description: "Event `done`: the run completed. The last event." }),
    z
      .object({
        code: z.enum(errorCodes),
        message: z.string(),
        retryable: z
          .boolean()
          .optional()
          .describe(
            "Where the run failed: whether a new run of the same message can succeed without a change to the agent.",
          ),
        request_id: RequestId,
      })
      .meta({ id: "RunErrorEvent", description: "Event `error`: the run failed or was cancelled. The last event." }),
  ])
  .meta({ id: "RunEvent" });

const params = z.strictObject({ agent_id: AgentRef, request_id: z.string() });
const tag = "Runs";

export const invocationOperations = {
  "POST /v1/agents/{agent_id}/invoke": {
    id: "invokeAgent",
    tag,
    summary: "Invoke agent",
    description:
      "Runs the agent and waits for its response. A run that was accepted survives restarts of the server. A run that fails is answered with 422 `run_failed`, and `retryable` says whether a new run can help. If the run outlasts the wait, which is a few seconds longer than its time limit, the answer is 504 `still_running`: the run continues, and `Location` is its URL. While the organisation waits for as many runs as it may, the answer is 429 and the run is not started. With `Prefer: respond-async` the response is 202 immediately, with `Prefer: wait=N` after at most N seconds; the run continues in the background, and `Location` is its URL. A run that waits for a person is answered with 409 `action_required`, whose `details` name the run and the approvals, or with 202 where `Prefer` was sent; with the same `Idempotency-Key`, a retry after the decision gets the result. With an `Idempotency-Key`, a retry joins the first run instead of starting another. With `Accept: text/event-stream` the response is a stream of the events `step`, `token`, `tool`, `dropped`, `action_required`, `done` and `error`. A client that disconnects does not stop the run, and can resume the stream with `Last-Event-ID`.",
    permission: "invoke",
    params: z.strictObject({ agent_id: AgentRef }),
    body: InvokeAgent,
    status: 200,
    response: single(InvocationResult),
    accepted: single(
      z.object({
        request_id: RequestId,
        status: z.enum(["running", "waiting"]),
        approvals: z.array(ApprovalId).optional().describe("With `waiting`: what the run waits for."),
      }),
    ),
    prefer: true,
    events: RunEvent,
    errors: ["not_found", "conflict", "run_failed", "still_running", "action_required"],
  },
  "GET /v1/agents/{agent_id}/invocations": {
    id: "listInvocations",
    tag,
    summary: "List runs",
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
  "GET /v1/invocations": {
    id: "listAllInvocations",
    tag,
    summary: "List runs of all agents",
    description:
      "Newest first, without runs of deleted agents. Nothing is counted, and a request reads a bounded number of runs, so it takes the same time however many are stored. Where a filter matches few of them, a page can be short or empty: `next_cursor` continues. A run can appear after newer ones, because some are stored when they end: to keep a list up to date, ask for its first page again.",
    permission: "read",
    query: AllInvocationsQuery,
    status: 200,
    response: uncountedList(InvocationOfAnyAgent),
    errors: ["not_found"],
  },
  "GET /v1/agents/{agent_id}/invocations/{request_id}": {
    id: "getInvocation",
    tag,
    summary: "Get run",
    description:
      "With `Accept: text/event-stream` the response is the run's event stream, from its start or after `Last-Event-ID`, with the same events as Invoke agent.",
    permission: "read",
    ownRuns: true,
    params,
    status: 200,
    response: single(Invocation),
    events: RunEvent,
    errors: ["not_found"],
  },
  "POST /v1/agents/{agent_id}/invocations/{request_id}/cancel": {
    id: "cancelInvocation",
    tag,
    summary: "Cancel run",
    description:
      "The run stops before its next step and gets the status `cancelled`. Cancelling a run that has ended changes nothing.",
    permission: "write",
    ownRuns: true,
    params,
    status: 200,
    response: single(Invocation),
    errors: ["not_found"],
  },
} as const satisfies OperationTable;
export type InvocationOperationKey = keyof typeof invocationOperations;
