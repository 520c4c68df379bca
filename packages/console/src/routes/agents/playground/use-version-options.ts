import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { activeDeploymentsQuery } from "../../../api/deployments-queries.ts";
import { versionsQuery } from "../../../api/versions-queries.ts";
import type { PlaygroundSearch } from "../playground-search.ts";
import { choiceLabel, choiceOptions, environmentOf } from "./version-choice.ts";

/** The versions to run and to compare: the newest hundred. The address can name any other. */
export function useVersionOptions(agent: string, search: PlaygroundSearch & { readonly env?: string | undefined }) {
  const versions = useInfiniteQuery(versionsQuery(agent));
  const active = useQuery(activeDeploymentsQuery(agent));
  const live = (active.data ?? []).filter(({ traffic_percent }) => traffic_percent === 100);
  const known = versions.data?.pages.flatMap(({ data }) => data) ?? [];
  const optionsOf = (chosen: string | undefined) => choiceOptions(chosen, search.env, live, known);
  const compared = optionsOf(search.compare).map((option) =>
    option.value === "" ? { ...option, value: `live:${environmentOf(undefined, search.env)}` } : option,
  );
  return {
    versions: optionsOf(search.version),
    compared: [{ value: "", label: "Nothing" }, ...compared],
    labelOf: (choice: string | undefined) => choiceLabel(choice, search.env, live),
    error: versions.error ?? active.error,
  };
}
