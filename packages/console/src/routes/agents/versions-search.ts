import { textSearch } from "../../parts/text-search.ts";

/** The two compared versions, as labels or `draft`; or the one whose definition is shown. */
export interface VersionsSearch {
  readonly shown?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export const parseVersionsSearch: (search: Record<string, unknown>) => VersionsSearch = textSearch(
  "from",
  "to",
  "shown",
);
