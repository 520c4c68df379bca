import { type Agent, type AgentStatus, type AgentSummary, agentDefaults } from "@perch/contract";
import { toPublicId } from "../../platform/ids.ts";
import type { AgentRow } from "./agent-queries.ts";
import type { StoredDefinition } from "./agent-rules.ts";

export const storedDefinition = (row: AgentRow): StoredDefinition =>
  ({ definition: row.definition, security: row.security }) as unknown as StoredDefinition;

export const toAgentSummary = (row: Pick<AgentRow, "id" | "name" | "status" | "created_at">): AgentSummary => ({
  id: toPublicId("agent", row.id),
  name: row.name,
  status: row.status as AgentStatus,
  created_at: row.created_at.toISOString(),
});

const agentByRow = new WeakMap<AgentRow, Agent>();

/** Converted once per row object, because a cached row is read many times. */
export function toAgent(row: AgentRow): Agent {
  const cached = agentByRow.get(row);
  if (cached) return cached;
  const agent = buildAgent(row);
  agentByRow.set(row, agent);
  return agent;
}

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
    security,
    auth: row.auth as Agent["auth"],
    created_at,
    updated_at: row.updated_at.toISOString(),
  };
}
