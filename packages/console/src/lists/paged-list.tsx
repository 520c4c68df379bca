import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Button } from "../parts/button.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Working } from "../parts/working.tsx";
import { withoutRepeats } from "./new-rows.ts";
import { NewRowsButton } from "./new-rows-button.tsx";
import { type Place, useKeptPlace } from "./use-kept-place.ts";

interface Rows<T> {
  readonly data: readonly T[];
}

interface PagedListProps<T> {
  readonly query: UseInfiniteQueryResult<InfiniteData<Rows<T>>>;
  /** "webhooks" */
  readonly what: string;
  readonly empty: ReactNode;
  /** For a list with the newest first: rows that arrive while the user looks at it wait above it. */
  readonly place?: Place<T>;
  readonly children: (rows: readonly T[]) => ReactNode;
}

/** The loaded rows, a message if there are none, and the way to more. */
export function PagedList<T>({ query, what, empty, place, children }: PagedListProps<T>) {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch, isFetchedAfterMount } = query;
  const loaded = data?.pages.flatMap((page) => page.data) ?? [];
  const rows = place ? withoutRepeats(loaded, place.idOf) : loaded;
  const { shown, newCount, showNew } = useKeptPlace(rows, isFetchedAfterMount, place);
  const note = error && (
    <div className="p-4">
      <ErrorNote error={error} onRetry={() => void refetch()} />
    </div>
  );
  if (!data) return note ?? <Working what={what} />;
  if (rows.length === 0 && !hasNextPage) return note ?? empty;
  return (
    <>
      {place && <NewRowsButton count={newCount} what={what} onShow={showNew} />}
      {rows.length > 0 && children(shown)}
      {note}
      {hasNextPage && (
        <p className="flex flex-wrap items-center gap-3 px-4 py-3 text-muted text-table">
          {rows.length === 0 && <span>None of the newest match. There are older ones.</span>}
          <Button working={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show more {what}
          </Button>
        </p>
      )}
    </>
  );
}
