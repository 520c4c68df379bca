import { useQuery } from "@tanstack/react-query";
import { agentNamesByIdQuery } from "../api/agents-queries.ts";

/** The name of an agent where it is known, else its id. Both lead to its pages. */
export function useAgentName(): (agentId: string) => string {
  const { data: names } = useQuery(agentNamesByIdQuery);
  return (agentId) => names?.get(agentId) ?? agentId;
}
