import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { perch } from "../../api/perch.ts";
import type { Command } from "./command.ts";

const agentName = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** The newest agents, and the one with exactly this name however many there are. */
export function useAgentCommands(typed: string): readonly Command[] {
  const navigate = useNavigate();
  const newest = useQuery({
    queryKey: ["agents", "palette"],
    queryFn: async ({ signal }) => {
      const { data } = await perch.request("GET /v1/agents", { query: { limit: 100 } }, { signal });
      return data.map(({ name }) => name);
    },
    staleTime: 30_000,
  });
  const wanted = typed.trim();
  const names = newest.data ?? [];
  const exact = useQuery({
    queryKey: ["agents", "palette", wanted],
    queryFn: async ({ signal }) => {
      const found = await perch.agents.get(wanted, { signal }).catch(() => null);
      return found?.name ?? null;
    },
    enabled:
      newest.data !== undefined && newest.data.length === 100 && agentName.test(wanted) && !names.includes(wanted),
    staleTime: 30_000,
  });
  return [...new Set([...names, ...(exact.data ? [exact.data] : [])])].map((name) => ({
    id: `agent ${name}`,
    group: "Agents",
    name,
    icon: "agents",
    words: "agent",
    run: () => void navigate({ to: "/agents/$agent", params: { agent: name } }),
  }));
}
