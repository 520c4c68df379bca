import { useInfiniteQuery } from "@tanstack/react-query";
import { type MemorySearch, memorySearchQuery } from "../../../api/memory-queries.ts";
import { PagedList } from "../../../lists/paged-list.tsx";
import { ArrowRows } from "../../../parts/arrow-rows.tsx";
import { EmptyState } from "../../../parts/empty-state.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { HitRow } from "./memory-hit.tsx";

interface SearchResultsProps {
  readonly agent: string;
  readonly search: MemorySearch;
  /** The memory that is open beside the list. */
  readonly openId: string | undefined;
}

/** The results of a search, best first, and how it was searched. */
export function SearchResults({ agent, search, openId }: SearchResultsProps) {
  const query = useInfiniteQuery(memorySearchQuery(agent, search));
  const first = query.data?.pages[0];
  return (
    <>
      {first && first.data.length > 0 && (
        <p className="border-line border-b px-4 py-1.5 text-muted text-small">
          {first.pagination.total === 1 ? "1 memory" : `${first.pagination.total} memories`}, best first.{" "}
          {first.search.exact
            ? "Every memory was compared."
            : "So many memories are searched with an index, which may miss some that are near."}
        </p>
      )}
      {first?.search.notice && (
        <p role="status" className="border-line border-b bg-warning-soft px-4 py-1.5 text-table">
          {first.search.notice}
        </p>
      )}
      <PagedList
        query={query}
        what="results"
        empty={
          <EmptyState title="Nothing found">
            <p>
              No memory of this agent matches <OutsideText text={search.text} className="font-mono text-table" />.{" "}
              {search.mode === "text" && "Search by meaning too, which finds memories with other words."}
            </p>
          </EmptyState>
        }
      >
        {(hits) => (
          <ArrowRows>
            <ol aria-label="Memories found">
              {hits.map((hit) => (
                <HitRow
                  key={hit.id}
                  agent={agent}
                  hit={hit}
                  mode={first?.search.mode ?? search.mode}
                  isOpen={hit.id === openId}
                />
              ))}
            </ol>
          </ArrowRows>
        )}
      </PagedList>
    </>
  );
}
