import type { RequirementTable } from "./requirement.ts";

export const models = {
  "models.list": {
    section: "What the service does",
    silent: "Which models an agent may use: not shown.",
    decision:
      "GET `/v1/models` lists them: the built-in ones, those of the server's providers, and those of the organisation's own, which go before the server's of the same name.",
  },
  "models.providers": {
    section: "What the service does",
    silent: "How a model provider becomes known: not shown.",
    decision:
      "By the server's configuration, or by an organisation: POST, GET, PATCH, DELETE `/v1/providers`. OpenAI, Anthropic, Google and anything that speaks OpenAI's protocol.",
  },
  "models.secret-never-shown": {
    section: "What the service does",
    silent: "What happens to a provider's API key: not shown.",
    decision: "It is stored encrypted, bound to its row, and stands in no answer, log line, journal entry or error.",
  },
  "models.failures": {
    section: "What the service does",
    silent: "What happens when a model fails: not shown.",
    decision:
      "Throttling, server errors, silence and broken answers are tried again after a durable wait that honours Retry-After, then the fallback_models in order. Other refusals end the run with a message that names the fix.",
  },
  "models.unreachable": {
    section: "What the service does",
    silent: "How long a run tries what cannot be reached: not shown.",
    decision:
      "A model, remote agent or MCP server that refuses connections, or whose name or route does not exist, is tried for about eight seconds, whatever time the run has. The error says how often it was tried, and what to do.",
  },
  "tools.calls": {
    section: "What the service does",
    silent: "How an agent uses tools: not shown.",
    decision:
      "MCP servers and HTTP tools. Each call is a durable step with an Idempotency-Key of its own, those of one reply run side by side, results are bounded, and the same call over and over ends the run.",
  },
  "outbound.guarded": {
    section: "What the service does",
    silent: "Which addresses a tenant may make the service call: not shown.",
    decision:
      "Public ones. Private, link-local and other special addresses are refused after resolution and as literals, unless the operator allows a range. Redirects are not followed.",
  },
} as const satisfies RequirementTable;
