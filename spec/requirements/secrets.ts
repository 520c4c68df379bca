import type { RequirementTable } from "./requirement.ts";

export const secrets = {
  "secrets.resource": {
    section: "What the service does",
    silent: "How an agent logs in at a tool: not shown.",
    decision:
      "With a secret: POST, GET, PATCH, DELETE `/v1/secrets`. It has a name of lower-case letters, digits and underscores, a value of 8 to 4096 printable ASCII characters, and 1 to 16 hosts.",
  },
  "secrets.of-agents": {
    section: "What the service does",
    silent: "Whether an agent can have a secret of its own: not shown.",
    decision:
      "The same operations exist under `/v1/agents/{agent_id}/secrets`. An agent's own secret takes precedence over the organisation's of the same name, no other agent can use it, and it is deleted with the agent.",
  },
  "secrets.write-only": {
    section: "What the service does",
    silent: "Whether the value of a secret can be read: not shown.",
    decision: "No answer, audit entry or stored answer to a retry holds a part of it.",
  },
  "secrets.sealed": {
    section: "What the service does",
    silent: "How a secret is stored: not shown.",
    decision:
      "Encrypted under a data key of its own, bound to organisation, agent, name and hosts: in another row, or beside other hosts, it does not open.",
  },
  "secrets.hosts": {
    section: "What the service does",
    silent: "Where a secret may be sent: not shown.",
    decision:
      "Only to its hosts. A host stands for one origin (scheme, host and port), HTTPS unless it says otherwise, and there are no wildcards. A host that is new needs the value again in the same request; removing one does not.",
  },
  "secrets.permissions": {
    section: "What the service does",
    silent: "Who may create, change and see secrets: not shown.",
    decision:
      "`manage` creates, changes and deletes, `read` sees names and hosts. A key that belongs to one agent reaches that agent's own secrets only.",
  },
  "secrets.rotation": {
    section: "What the service does",
    silent: "When a changed secret takes effect: not shown.",
    decision: "With the next call on every worker, because it is read for every call and cached nowhere.",
  },
  "secrets.last-used": {
    section: "What the service does",
    silent: "Whether unused secrets can be told: not shown.",
    decision: "`last_used_at` is written beside the call, at most once a minute.",
  },
  "secrets.command-line": {
    section: "What the service does",
    silent: "How the command-line tool takes the value of a secret: not shown.",
    decision:
      "From a prompt without echo, or from standard input; one in the arguments is refused, and not repeated. It is in no output, file or process's arguments.",
  },
  "secrets.agent-file": {
    section: "What the service does",
    silent: "How an agent's file brings its secrets: not shown.",
    decision:
      "`secrets` of `agent.yaml` names hosts and a variable, and `perch apply` and `perch dev` take the value from the environment, or else from `.env` beside it. A value that is missing, or not for its host, causes a warning with the fix.",
  },
  "secrets.references-stored": {
    section: "What the service does",
    silent: "How providers and webhooks refer to a secret: not shown.",
    decision:
      "A provider's `api_key` may be one reference to a secret of the organisation, shown as `api_key_secret`; the `headers` of a webhook are templates. What is stored and shown is the reference.",
  },
  "secrets.sent": {
    section: "What the service does",
    silent: "When a secret leaves the service: not shown.",
    decision:
      "Only in a call that refers to it, to one of its hosts, after the address was checked. A redirect is not followed. If it is missing or not for the address, nothing is sent: a tool call gives the model that reason and is not repeated, a listing of tools, a remote agent and a provider fail the run with it, and a delivery of a webhook fails as blocked.",
  },
  "secrets.templates": {
    section: "What the service does",
    silent: "Where a secret can be referred to: not shown.",
    decision:
      "As `{{secret.name}}` in the `headers` and `query` of HTTP tools, in the `headers` of MCP servers, remote runtimes and webhooks, and as a provider's whole `api_key`. Nowhere else: not in an address, an argument of a model, a message or another value.",
  },
  "secrets.redacted": {
    section: "What the service does",
    silent: "What happens to a secret that comes back in an answer: not shown.",
    decision:
      "`[secret NAME]` stands in its place, also for its base64, URL-encoded and JSON-escaped forms and where it is split over pieces of a stream: in tool results, replies, streams, errors, logs, spans, journals, records and what a model sees.",
  },
  "secrets.preflight": {
    section: "What the service does",
    silent: "Whether a deployment is checked for secrets: not shown.",
    decision:
      "Yes. A deployment whose version refers to secrets that do not exist or are not for their address fails, and names all of them.",
  },
} as const satisfies RequirementTable;
