import { infiniteQueryOptions } from "@tanstack/react-query";

/** The largest page that the API allows. */
const limit = 100;

interface OffsetPage<T> {
  readonly data: readonly T[];
  readonly pagination: { readonly offset: number; readonly has_more: boolean };
}

/** All rows of an offset-based list, loaded page by page as the user asks for more. */
export const offsetPages = <T>(
  queryKey: readonly unknown[],
  fetchPage: (page: { readonly limit: number; readonly offset: number }, signal: AbortSignal) => Promise<OffsetPage<T>>,
) =>
  infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam, signal }) => fetchPage({ limit, offset: pageParam }, signal),
    initialPageParam: 0,
    getNextPageParam: ({ data, pagination }) =>
      pagination.has_more && data.length > 0 ? pagination.offset + data.length : undefined,
  });

interface CursorPage<T> {
  readonly data: readonly T[];
  readonly pagination: { readonly next_cursor: string | null };
}

/** The same for a list with cursors. If a filter matches few rows, a page can be short or empty. */
export const cursorPages = <T>(
  queryKey: readonly unknown[],
  fetchPage: (
    page: { readonly limit: number; readonly cursor: string | undefined },
    signal: AbortSignal,
  ) => Promise<CursorPage<T>>,
) =>
  infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam, signal }) => fetchPage({ limit, cursor: pageParam ?? undefined }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ pagination }) => pagination.next_cursor,
  });
