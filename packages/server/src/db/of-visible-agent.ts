import { type RawBuilder, sql } from "kysely";

export interface VisibleAgents {
  readonly onlyAgentId: string | null;
  readonly hiddenAgentIds?: readonly string[];
}

/** Whether a row with an `agent_id` exists for a caller: rows of its one agent, or all but those of agents that refuse it. */
export function ofVisibleAgent({ onlyAgentId, hiddenAgentIds = [] }: VisibleAgents): RawBuilder<boolean> {
  if (onlyAgentId !== null) return sql`agent_id = ${onlyAgentId}`;
  return hiddenAgentIds.length === 0
    ? sql`true`
    : sql`(agent_id is null or agent_id <> all(${[...hiddenAgentIds]}::uuid[]))`;
}
