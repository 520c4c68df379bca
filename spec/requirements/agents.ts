import type { RequirementTable } from "./requirement.ts";

export const agents = {
  "agent.id-form": {
    section: "Resources and their fields",
    silent: "An agent's id has the form `<agent_id>`; the form itself: not shown.",
    decision: "A TypeID: `agent_` and a UUIDv7 in 26 characters of base32.",
  },
  "agent.name": {
    section: "Resources and their fields",
    given: "An agent has a name, a string.",
  },
  "agent.name-form": {
    section: "Resources and their fields",
    silent: "Which names an agent may have: not shown.",
    decision:
      "1 to 63 lower-case letters, digits and hyphens, starting with a letter or digit (`^[a-z0-9][a-z0-9-]{0,62}$`).",
  },
  "agent.name-unique": {
    section: "Resources and their fields",
    silent: "Whether two agents may share a name: not shown.",
    decision: "A name is unique in its organisation; creating a second agent under it is 409 `conflict`.",
  },
  "agent.name-unchangeable": {
    section: "Resources and their fields",
    silent: "Whether a name can be changed: not shown.",
    decision: "It never changes; Update Agent refuses the field.",
  },
  "agent.model": {
    section: "Resources and their fields",
    given: "model is a string, returned by Get Agent and settable by Update Agent.",
  },
  "agent.model-form": {
    section: "Resources and their fields",
    silent: "The form of a model's name: not shown.",
    decision: "`provider/model`; anything else is 400 `invalid_request`.",
  },
  "agent.temperature": {
    section: "Resources and their fields",
    given: "temperature is a number, settable by Update Agent.",
  },
  "agent.temperature-range": {
    section: "Resources and their fields",
    silent: "The range of temperature: not shown.",
    decision: "From 0 to 2; null leaves it to the model.",
  },
  "agent.timestamps": {
    section: "Resources and their fields",
    given: "created_at and updated_at are ISO 8601 UTC timestamps; Get Agent returns both.",
  },
  "agent.list-item-fields": {
    section: "Resources and their fields",
    given: "A list item carries id, name, status, created_at.",
  },
  "agent.get-fields": {
    section: "Resources and their fields",
    given: "Get Agent returns id, name, status, model, created_at, updated_at.",
  },
  "agent.create-operation": {
    section: "Resources and their fields",
    silent: "The operation that creates an agent: not shown.",
    decision: "POST `/v1/agents` with a name and a definition answers 201 with the agent, which is running.",
  },
  "agent.status-running": {
    section: "States and transitions",
    given: "status is a string; `running` is the only value that occurs.",
  },
  "agent.status-others": {
    section: "States and transitions",
    silent: "Other status values: not shown.",
    decision: "One more, `paused`.",
  },
  "agent.pause-and-resume": {
    section: "States and transitions",
    silent: "Transitions: not shown.",
    decision:
      "POST `/v1/agents/{agent_id}/pause` makes an agent paused, POST `/v1/agents/{agent_id}/resume` makes it running. Both answer 200 with the agent, and repeating either changes nothing.",
  },
  "agent.paused-refuses-invoke": {
    section: "States and transitions",
    silent: "What a status other than running means: not shown.",
    decision: "Invoking a paused agent is 409 `conflict`.",
  },
  "agent.ref-id-or-name": {
    section: "Endpoints",
    silent: "Whether `{agent_id}` accepts the id, the name, or both: not shown.",
    decision: "Both, on every path.",
  },
  "agent.update-merges": {
    section: "Endpoints",
    silent: "What Update Agent does with fields that are left out or null: not shown.",
    decision:
      "Fields left out stay as they are. memory, limits and security merge field by field, where a field that is an object is replaced as a whole. Everything else is replaced. null restores the default, and within security it removes the block; model has no default and refuses null.",
  },
} as const satisfies RequirementTable;
