import type { RequirementTable } from "./requirement.ts";

const section = "What the service does";

/** Runs that wait for people. The specification does not mention them. */
export const approvals = {
  "approvals.policy": {
    section,
    silent: "Which calls of an agent need a person: not shown.",
    decision:
      "Those that the definition names, by tool, by MCP server or by an argument. An argument that is missing or of another type needs a person; a server's statements about its own tools count only if the definition allows it.",
  },
  "approvals.floor": {
    section,
    silent: "Whether a new version may do without a person where the one before needed one: not shown.",
    decision:
      "Not where `security.approvals` of the agent names the tool or its host, or where the tool uses a secret with `approval: required`. Both need `manage`, and count for every run that begins, whatever its version. A version can only ask for more, and cannot let the invoker decide.",
  },
  "approvals.suspend": {
    section,
    silent: "What a run does that waits for a person: not shown.",
    decision:
      "It is `waiting`: no call is made, its clock stands still, and it holds no slot, no turn of its session, no worker and nothing in the engine. After the last decision it goes on, once.",
  },
  "approvals.decisions": {
    section,
    silent: "How a person decides: not shown.",
    decision:
      "With the permission `approve`, once for each call: approve, approve with other arguments, or reject with a reason that the model is told. Deciding again in the same way gives the first answer, in another way 409. Who started the run may not decide, unless the policy allows it; a policy can demand several people.",
  },
  "approvals.grants": {
    section,
    silent: "Whether `manage` gives the permission `approve`: not shown.",
    decision:
      "A caller with `manage` gives it without having it, unless the organisation forbids it. Then only a caller that has `approve` creates, changes or rotates keys with it and webhooks with links.",
  },
  "approvals.grants-switch": {
    section,
    silent: "Who decides whether `manage` gives `approve`: not shown.",
    decision:
      "A caller with `manage` for the whole organisation forbids it with `manage_grants_approve: false`, at once on every node. Only a command of the operator allows it again.",
  },
  "approvals.session": {
    section,
    silent: "What becomes of a session's next message while a run of it waits: not shown.",
    decision: "It is refused with the reason, or it waits for its turn, as the agent's definition says.",
  },
  "approvals.questions": {
    section,
    silent: "Whether an agent can ask a person: not shown.",
    decision:
      "With a tool of the type `ask_person`: the run waits, and the answer, which fits a schema, is the result.",
  },
  "approvals.invoke": {
    section,
    silent: "What a client gets whose run waits for a person: not shown.",
    decision:
      "409 `action_required` with the ids of the run and its approvals, or 202 if `Prefer` was sent. A retry with the same `Idempotency-Key` gets the result after the decision. A stream ends with `action_required`, and goes on after the decision.",
  },
  "approvals.links": {
    section,
    silent: "How a person without a key decides: not shown.",
    decision:
      "With a link in a webhook delivery, for webhooks that a key with `manage` has enabled it for. It shows on GET, decides on POST, works once, and is refused if several must approve.",
  },
} as const satisfies RequirementTable;
