import { type Agent, type AgentStatus, type AgentSummary, agentDefaults } from "@perch/contract";
import { toPublicId } from "../../platform/ids.ts";
import { single } from "../envelopes.ts";
import { SharedAnswer } from "../handlers.ts";
import type { AgentRow } from "./agent-queries.ts";
import type { StoredDefinition } from "./agent-rules.ts";
import { logSettingOf } from "./log-setting.ts";

export const storedDefinition = (row: AgentRow): StoredDefinition =>
  ({ definition: row.definition, security: row.security }) as unknown as StoredDefinition;

export const toAgentSummary = (row: Pick<AgentRow, "id" | "name" | "status" | "created_at">): AgentSummary => ({
  id: toPublicId("agent", row.id),
  name: row.name,
  status: row.status as AgentStatus,
  created_at: row.created_at.toISOString(),
});

type AgentAnswer = SharedAnswer<ReturnType<typeof single<Agent>>>;

const answerByRow = new WeakMap<AgentRow, AgentAnswer>();

/** Made once per row object, because a cached row is read many times. */
export function toAgentAnswer(row: AgentRow): AgentAnswer {
  const cached = answerByRow.get(row);
  if (cached) return cached;
  const answer = new SharedAnswer(single(buildAgent(row)));
  answerByRow.set(row, answer);
  return answer;
}

export const toAgent = (row: AgentRow): Agent => toAgentAnswer(row).body.data;

/** A definition stored before a field existed gets that field's default. */
function buildAgent(row: AgentRow): Agent {
  const { definition, security } = storedDefinition(row);
  const { id, name, status, created_at } = toAgentSummary(row);
  const { model, ...given } = definition;
  return {
    id,
    name,
    status,
    model,
    ...agentDefaults,
    ...given,
    memory: { ...agentDefaults.memory, ...given.memory },
    logs: logSettingOf(given),
    security,
    auth: row.auth as Agent["auth"],
    created_at,
    updated_at: row.updated_at.toISOString(),
  };
}
