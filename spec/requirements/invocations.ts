import type { RequirementTable } from "./requirement.ts";

export const invocations = {
  "invocation.message-required": {
    section: "Resources and their fields",
    given: "message is a required string; omitting it is an `invalid_request` error that names it.",
  },
  "invocation.context-keys": {
    section: "Resources and their fields",
    given: "context is an object with user_id (string) and session_id (string).",
  },
  "invocation.context-optional": {
    section: "Resources and their fields",
    silent: "Whether context is required: not shown.",
    decision: "It is optional, and so is each of its keys.",
  },
  "invocation.result-fields": {
    section: "Resources and their fields",
    given:
      "The result carries response (string, the agent's reply), request_id (string), tokens_used (integer) and duration_ms (integer, milliseconds).",
  },
  "invocation.request-id-form": {
    section: "Resources and their fields",
    silent: "A request's id has the form `<request_id>`; the form itself: not shown.",
    decision: "A TypeID: `req_` and a UUIDv7 in 26 characters of base32.",
  },
  "invocation.environment": {
    section: "Resources and their fields",
    silent: "Which version of an agent an invocation runs: not shown.",
    decision:
      "The one live in `production`, unless context.environment names another environment. An agent never deployed runs its draft.",
  },
  "invocation.background": {
    section: "Endpoints",
    silent: "How to invoke an agent without waiting for it: not shown.",
    decision:
      "`Prefer: respond-async` answers 202 with a Location to read the result from; `Prefer: wait=N` waits N seconds first. The run goes on either way.",
  },
  "invocation.wait-over": {
    section: "Endpoints",
    silent: "What a request gets whose run outlasts its wait: not shown. Invoke answers with the result or an error.",
    decision:
      "504 `still_running` with the run's id in details and a Location; the run goes on, and a retry with the same Idempotency-Key gets its result. 202 only if `Prefer` asks for it.",
  },
  "invocation.waits-bounded": {
    section: "Endpoints",
    silent: "How many requests of an organisation may wait for their runs: not shown.",
    decision:
      "A part of the node's capacity, by tier. Beyond it 429 before the run starts, or 202 at once if `Prefer` allows it; the same Idempotency-Key then starts the run.",
  },
  "invocation.stream": {
    section: "Endpoints",
    silent: "How to receive a response while it is made: not shown.",
    decision:
      "`Accept: text/event-stream` streams the events step, token, tool, done and error, each with an id: every attempt of every step, why it failed and how long the run waits. A reconnect with `Last-Event-ID` continues.",
  },
  "runs.listed-across-agents": {
    section: "Endpoints",
    silent: "How to see the runs of all agents: not shown.",
    decision:
      "GET `/v1/invocations` lists the runs of every agent that the caller can see, newest first, each with its agent's name. A cursor continues, and shows each run once while others arrive.",
  },
  "runs.found-by-id": {
    section: "Endpoints",
    silent: "How to find a run of which only the id is known: not shown.",
    decision: "GET `/v1/invocations` with `request_id` finds the run, and names its agent.",
  },
  "runs.list-bounded": {
    section: "Limits",
    silent: "The cost of a list of runs if many are stored and few match: not shown.",
    decision:
      "A request reads a bounded number of runs and counts none. A page can be short or empty although there are more: `next_cursor` continues.",
  },
  "runs.steps": {
    section: "Endpoints",
    silent: "How to see the steps of a run: not shown.",
    decision:
      "GET `/v1/agents/{agent_id}/invocations/{request_id}/steps` lists every attempt of its model calls, tool calls, listings of tools and recalls, in order, with times, tokens, the reason of a failure, and its input and output. It is empty until the run has ended.",
  },
  "runs.logs-setting": {
    section: "Resources and their fields",
    silent: "Who can see the inputs and outputs of models and tools: not shown.",
    decision:
      "The agent's `logs` says it: `off` keeps nothing, `shapes` (the default) sizes and names of fields without a value, `full` all of it, encrypted, for as long as the log.",
  },
} as const satisfies RequirementTable;
