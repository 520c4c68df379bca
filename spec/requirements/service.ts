import type { RequirementTable } from "./requirement.ts";

export const service = {
  "service.json-bodies": {
    section: "What the service does",
    given: "Request and response bodies are JSON.",
  },
  "agent.definition-fields": {
    section: "What the service does",
    silent: "Agent internals (how a message becomes a response, which models exist): not shown.",
    decision:
      "An agent is a declarative definition: model (`provider/model`), temperature, instructions, tools (MCP servers and HTTP tools), memory, limits, logs, fallback_models, runtime and security. All of it is settable at create and update, and returned with the agent.",
  },
  "agent.definition-defaults": {
    section: "What the service does",
    silent: "What an agent is when little is said about it: not shown.",
    decision:
      "Only name and model are required to create an agent, and a remote agent needs no model. Everything else has a default.",
  },
  "agent.run-steps": {
    section: "What the service does",
    silent: "How a message becomes a response: not shown.",
    decision:
      "A run is a loop of model calls and tool calls within the agent's limits. Each step is kept durably, so a run goes on after a crash and no finished step runs again. When the model fails, the fallback_models are tried in order.",
  },
  "agent.built-in-models": {
    section: "What the service does",
    silent: "Which models exist: not shown.",
    decision:
      "Any `provider/model` of a configured provider. `perch/echo` (deterministic) and `perch/script` (scripted replies, tool calls, delays and failures) are built in and need no provider key.",
  },
  "agent.remote-runtime": {
    section: "What the service does",
    silent: "Whether an agent may run outside the service: not shown.",
    decision:
      'An agent with `runtime: {type: "http", url}` is remote: the message is posted to that address, with durable retries, and its answer is the agent\'s response.',
  },
} as const satisfies RequirementTable;
