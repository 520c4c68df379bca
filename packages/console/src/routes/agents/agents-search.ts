import type { AgentStatus } from "@perch/sdk";
import type { AgentSort } from "../../api/agents-queries.ts";

/** The sorting and filters of the list of agents, as they are in the address. */
export interface AgentsSearch {
  /** A part of the name. */
  readonly q?: string | undefined;
  readonly status?: AgentStatus | undefined;
  /** By name if absent. */
  readonly sort?: AgentSort | undefined;
}

const sorts = ["name", "-name", "created_at", "-created_at", "updated_at", "-updated_at"] as const;
const statuses = ["running", "paused"] as const;

const oneOf = <T extends string>(allowed: readonly T[], value: unknown): T | undefined =>
  allowed.find((each) => each === value);

export const parseAgentsSearch = (search: Record<string, unknown>): AgentsSearch => ({
  q: typeof search.q === "string" && search.q !== "" ? search.q : undefined,
  status: oneOf(statuses, search.status),
  sort: oneOf(sorts, search.sort),
});
