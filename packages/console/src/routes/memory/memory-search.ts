import type { SearchMode } from "../../api/memory-queries.ts";

/** What the address says about the list of memories. */
export interface MemorySearchParams {
  readonly agent?: string | undefined;
  readonly user?: string | undefined;
  readonly session?: string | undefined;
  readonly q?: string | undefined;
  readonly mode?: string | undefined;
}

export const searchModes = ["hybrid", "vector", "text"] as const satisfies readonly SearchMode[];

/** How to search. What an address says wrongly is the default. */
export const modeOf = (text: string | undefined): SearchMode => searchModes.find((mode) => mode === text) ?? "hybrid";
