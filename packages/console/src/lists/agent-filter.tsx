import { useQuery } from "@tanstack/react-query";
import { agentNamesQuery } from "../api/agents-queries.ts";
import { TextFilter } from "../parts/filters.tsx";

interface AgentFilterProps {
  readonly value: string | undefined;
  readonly onChange: (agent: string | undefined) => void;
}

/** Chooses an agent by its name or id. */
export function AgentFilter({ value, onChange }: AgentFilterProps) {
  const { data: names } = useQuery(agentNamesQuery);
  return <TextFilter label="Agent" value={value} onChange={onChange} suggestions={names ?? []} isFirst />;
}
