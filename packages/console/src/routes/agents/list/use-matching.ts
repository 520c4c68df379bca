import type { AgentSummary } from "@perch/sdk";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";

const route = getRouteApi("/signed-in/agents");

interface Pages {
  readonly pages: readonly { readonly data: readonly AgentSummary[] }[];
}

/** The server has no search by name, so a filter searches the pages one after the other until the screen is full. */
export function useMatching(loaded: Pages | undefined): readonly AgentSummary[] {
  const { q, status } = route.useSearch();
  return useMemo(() => {
    const part = q?.toLowerCase() ?? "";
    const agents = loaded?.pages.flatMap(({ data }) => data) ?? [];
    return agents.filter((agent) => agent.name.includes(part) && (status === undefined || agent.status === status));
  }, [loaded, q, status]);
}
