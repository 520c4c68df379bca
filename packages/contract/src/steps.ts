import { z } from "zod";
import { list, pageQuery, Timestamp } from "./envelopes.ts";
import { AgentRef } from "./ids.ts";
import type { OperationTable } from "./operation.ts";

const stepKinds = ["model", "tool", "tools", "memory"] as const;
const recordedStepStatuses = ["completed", "failed", "retried", "interrupted"] as const;

const content =
  "All of it where the agent's `logs` is `full`, its shape with `shapes`, null with `off` or once it has expired.";

export const RunStep = z
  .object({
    number: z.int().describe("Position among the steps of the run, from 1."),
    kind: z
      .enum(stepKinds)
      .describe(
        "`model`: a model, or a remote agent, was called. `tool`: a tool was called. `tools`: MCP servers were asked for their tools. `memory`: memories were recalled.",
      ),
    step: z.int().describe("Number of the model call that this is or belongs to. 0: before the first."),
    call: z.int().nullable().describe("Number of the tool call within its step; null for other kinds."),
    name: z.string().describe("The model, the tool, or the MCP servers."),
    attempt: z.int().describe("Which attempt this is, from 1."),
    status: z
      .enum(recordedStepStatuses)
      .describe(
        "`retried`: this attempt failed, and another followed. `interrupted`: the worker was lost, or the step failed in the server, and the attempt began again.",
      ),
    started_at: Timestamp,
    duration_ms: z.int().nullable().describe("null where it was interrupted."),
    tokens: z.int().nullable().describe("Only of a model that answered."),
    reason: z.string().nullable().describe("Why it failed or was interrupted."),
    retry_after_ms: z.int().nullable().describe("With `retried`: how long the run waited before the next attempt."),
    input: z
      .unknown()
      .describe(
        `The input of a model call that is new since the call before (at first: instructions, number of earlier messages, memories, message, names of tools), or the arguments of a tool call. ${content}`,
      ),
    output: z.unknown().describe(`The model's text and tool calls, or the result of the tool. ${content}`),
  })
  .meta({ id: "RunStep" });
export type RunStep = z.infer<typeof RunStep>;

export const stepOperations = {
  "GET /v1/agents/{agent_id}/invocations/{request_id}/steps": {
    id: "listSteps",
    tag: "Runs",
    summary: "List the steps of a run",
    description:
      "Every attempt of every model call, tool call, listing of tools and recall of memories, in order: when, how long, with how many tokens, why it failed, its input and its output. Empty until the run ends or begins to wait; meanwhile its event stream has the same. Steps are kept as long as the log, at most 300 of a run or of each part between two waits, and their contents as the agent's `logs` says.",
    permission: "read",
    params: z.strictObject({ agent_id: AgentRef, request_id: z.string() }),
    query: z.strictObject(pageQuery),
    status: 200,
    response: list(RunStep),
    errors: ["not_found"],
  },
} as const satisfies OperationTable;
export type StepOperationKey = keyof typeof stepOperations;
