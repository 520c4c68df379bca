import type { SearchMode } from "../../api/memory-queries.ts";

/** The filters of the list of memories, as they are in the address. */
export interface MemorySearchParams {
  readonly agent?: string | undefined;
  readonly user?: string | undefined;
  readonly session?: string | undefined;
  readonly q?: string | undefined;
  readonly mode?: string | undefined;
}

export const searchModes = ["hybrid", "vector", "text"] as const satisfies readonly SearchMode[];

/** The search mode. An invalid one becomes the default. */
export const modeOf = (text: string | undefined): SearchMode => searchModes.find((mode) => mode === text) ?? "hybrid";
