import type { RequirementTable } from "./requirement.ts";

export const service = {
  "service.https": {
    section: "What the service does",
    given: "The interface is a REST API: JSON over HTTPS.",
  },
  "service.json-bodies": {
    section: "What the service does",
    given: "Request and response bodies are JSON.",
  },
  "cli.never-silent": {
    section: "What the service does",
    silent: "What a client of a long run sees meanwhile: not shown.",
    decision:
      "A command that waits for a run says at least every two seconds what the run waits for, and shows each failed attempt with its reason and the time of the next.",
  },
  "cli.failed-run-named": {
    section: "What the service does",
    silent: "How a developer finds the run that failed: not shown.",
    decision:
      "A command whose run failed, or that lost sight of it, names the run and the next command, and says whether another try can help.",
  },
  "cli.interrupt-names-run": {
    section: "What the service does",
    silent: "Whether leaving a client stops the run: not shown.",
    decision:
      "Ctrl-c does not stop the run: the command names it, says how to follow and to cancel it, and ends with 130.",
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
