import type { RequirementTable } from "./requirement.ts";

export const events = {
  "events.delivered-to-url": {
    section: "Events",
    given: "Events are delivered to the url registered with Create Webhook.",
  },
  "events.selected-by-name": {
    section: "Events",
    given: "The webhook's events array selects which event names are delivered.",
  },
  "events.name.agent-completed": {
    section: "Events",
    given: "`agent.completed` is an event name.",
  },
  "events.name.agent-failed": {
    section: "Events",
    given: "`agent.failed` is an event name.",
  },
  "events.other-names": {
    section: "Events",
    silent: "Other event names: not shown.",
    decision: "`deployment.activated`, `deployment.failed`, `deployment.rolled_back` and `webhook.test`.",
  },
  "events.cause": {
    section: "Events",
    silent: "Which operation causes each event: not shown.",
    decision:
      "A run causes exactly one of `agent.completed` and `agent.failed`. Deployment events follow a deployment's state. `webhook.test` is sent on request.",
  },
  "events.payload": {
    section: "Events",
    silent: "The delivery payload: not shown.",
    decision: "`{id, type, created_at, agent_id, data}`; id has the prefix `evt_`.",
  },
  "events.standard-headers": {
    section: "Events",
    silent: "Other headers of a delivery: not shown.",
    decision: "Those of Standard Webhooks, besides `X-Service-Signature`.",
  },
  "events.retries": {
    section: "Events",
    silent: "Retries: not shown.",
    decision: "Delivery is at least once: 10 attempts over 3 days, with jitter.",
  },
  "events.ordering": {
    section: "Events",
    silent: "Ordering: not shown.",
    decision: "None is promised; a receiver goes by the event's id and created_at.",
  },
  "events.disabled-webhook": {
    section: "Events",
    silent: "What happens to a webhook that keeps failing: not shown.",
    decision: "An answer of 410 disables it, and so do 5 days of failure.",
  },
  "events.delivery-log": {
    section: "Events",
    silent: "How to see the deliveries: not shown.",
    decision:
      "A webhook has a delivery log (ids with the prefix `dlv_`); a delivery can be sent again, and a test sent.",
  },
} as const satisfies RequirementTable;
