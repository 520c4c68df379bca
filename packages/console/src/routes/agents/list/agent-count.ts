import { formatCount } from "../../../parts/duration.ts";

interface Narrowed {
  readonly matching: number;
  /** Whether a filter is set. */
  readonly isNarrowed: boolean;
  /** Whether all agents have been looked through. */
  readonly isWhole: boolean;
}

const agents = (count: number): string => `${formatCount(count)} ${count === 1 ? "agent" : "agents"}`;

/** How many agents there are and, where the list is narrowed, how many of them it shows. */
export function agentCount(total: number, { matching, isNarrowed, isWhole }: Narrowed): string {
  if (!isNarrowed) return agents(total);
  return `${isWhole ? "" : "at least "}${formatCount(matching)} of ${agents(total)}`;
}
