import { useQuery } from "@tanstack/react-query";
import { agentNamesByIdQuery } from "../api/agents-queries.ts";

/** The name of an agent if it is known, else its id. Both work in an address. */
export function useAgentName(): (agentId: string) => string {
  const { data: names } = useQuery(agentNamesByIdQuery);
  return (agentId) => names?.get(agentId) ?? agentId;
}
