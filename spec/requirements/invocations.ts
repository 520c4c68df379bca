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
  "invocation.stream": {
    section: "Endpoints",
    silent: "How to receive a response while it is made: not shown.",
    decision:
      "`Accept: text/event-stream` streams the events token, tool, done and error, each with an id; a reconnect with `Last-Event-ID` continues.",
  },
} as const satisfies RequirementTable;
