import { formatCount } from "../../../parts/duration.ts";

interface Narrowed {
  readonly matching: number;
  /** Whether a filter is set. */
  readonly isNarrowed: boolean;
  /** Whether all agents have been searched. */
  readonly isWhole: boolean;
}

const agents = (count: number): string => `${formatCount(count)} ${count === 1 ? "agent" : "agents"}`;

/** The number of agents and, in a filtered list, how many of them it shows. */
export function agentCount(total: number, { matching, isNarrowed, isWhole }: Narrowed): string {
  if (!isNarrowed) return agents(total);
  return `${isWhole ? "" : "at least "}${formatCount(matching)} of ${agents(total)}`;
}
