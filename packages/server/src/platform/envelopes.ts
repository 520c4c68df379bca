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

/** `-created_at` as a column and a direction. The contract has already checked it against the allow-list. */
export function sortOrder<Field extends string>(sort: Field | `-${Field}`): readonly [Field, "asc" | "desc"] {
  return sort.startsWith("-") ? [sort.slice(1) as Field, "desc"] : [sort as Field, "asc"];
}
