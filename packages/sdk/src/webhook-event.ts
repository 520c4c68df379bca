import type {
  AgentId,
  ApprovalSummary,
  Connection,
  Deployment,
  Event,
  InvocationStatus,
  RequestId,
  WebhookId,
} from "./generated-schemas.ts";

/** Data of a run's event. */
export interface RunOutcome {
  request_id: RequestId;
  agent_id: AgentId;
  environment: string;
  /** Null for the agent's draft. */
  version: string | null;
  status: Exclude<InvocationStatus, "running" | "waiting">;
  tokens_used: number;
  duration_ms: number;
  user_id: string | null;
  session_id: string | null;
}

/** Data of `agent.completed`. */
export interface CompletedRun extends RunOutcome {
  status: "completed";
  response: string;
  /** True if the response was cut, after 65,536 characters. */
  response_truncated?: boolean;
}

/** Data of `agent.failed`: the run failed or was cancelled. */
export interface FailedRun extends RunOutcome {
  status: "failed" | "cancelled";
  error: string;
}

/** Data of `agent.action_required`: a run waits for a person. */
export interface RequestedAction extends ApprovalSummary {
  /** A page on which a person can decide, once. Only in deliveries to webhooks with `approval_links`. */
  link?: string;
}

interface EventOf<Type extends Event["type"], Data> extends Omit<Event, "type" | "data"> {
  type: Type;
  data: Data;
}

/** An event, as a webhook delivery contains it. `type` determines the type of `data`. */
export type PerchEvent =
  | EventOf<"agent.completed", CompletedRun>
  | EventOf<"agent.failed", FailedRun>
  | EventOf<"agent.action_required", RequestedAction>
  | EventOf<"connection.needs_reauth", Connection>
  | EventOf<"deployment.activated" | "deployment.failed" | "deployment.rolled_back", Deployment>
  | EventOf<"webhook.test", { webhook_id: WebhookId }>;
