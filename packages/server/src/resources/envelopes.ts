import type { Pagination } from "@perch/contract";

export const single = <T>(data: T): { success: true; data: T } => ({ success: true, data });

interface Page {
  readonly limit: number;
  readonly offset: number;
}

export const page = <T>(data: T[], { limit, offset }: Page, total: number): { data: T[]; pagination: Pagination } => ({
  data,
  pagination: { limit, offset, total, has_more: offset + data.length < total },
});

/** Counting stops here, because the cost of a page must not grow with the number of rows. */
export const maxCounted = 10_000;

/** A page whose `counted` was counted no further than one past `maxCounted`. */
export function cappedPage<T>(
  data: T[],
  query: Page,
  counted: number,
): { data: T[]; pagination: Pagination & { total_relation: "eq" | "gte" } } {
  const { pagination } = page(data, query, Math.min(counted, maxCounted));
  const isCapped = counted > maxCounted;
  const has_more = isCapped ? data.length === query.limit : pagination.has_more;
  return { data, pagination: { ...pagination, has_more, total_relation: isCapped ? "gte" : "eq" } };
}

export const uncountedPage = <T>(data: T[], { limit }: Pick<Page, "limit">, next_cursor: string | null) => ({
  data,
  pagination: { limit, has_more: next_cursor !== null, next_cursor },
});

/** `-created_at` as a column and a direction. The contract has already checked it against the allow-list. */
export function sortOrder<Field extends string>(sort: Field | `-${Field}`): readonly [Field, "asc" | "desc"] {
  return sort.startsWith("-") ? [sort.slice(1) as Field, "desc"] : [sort as Field, "asc"];
}
