import type { UsableConnection } from "./token-queries.ts";

/** A token that ends sooner is refreshed when it is used. */
export const refreshBeforeEndMs = 5 * 60_000;
/** Tokens that live for minutes would be refreshed at every call otherwise. */
const minBetweenRefreshesMs = 60_000;
/** Sooner than that a token is refreshed however young it is. */
const nearEndMs = 30_000;
/** It must not end on its way to the tool. */
const marginMs = 1000;
/** A tool that refuses every token must not have each call ask for another. */
export const minBetweenRejectionsMs = 30_000;

type Times = Pick<
  UsableConnection,
  "access_expires_at" | "refresh_claimed_until" | "last_refreshed_at" | "read_at" | "generation"
>;

/** By the database's clock, when the row was read. Tokens without an end live as long as the tool takes them. */
export const remainingMs = ({ access_expires_at: endsAt, read_at: readAt }: Times): number =>
  endsAt === null ? Number.POSITIVE_INFINITY : endsAt.getTime() - readAt.getTime();

export const isClaimed = ({ refresh_claimed_until: until, read_at: readAt }: Times): boolean =>
  until !== null && until > readAt;

/** Whether the token may still be sent, when its row was read. */
export const mayBeSent = (row: Times, rejectedGeneration: number | undefined): boolean =>
  row.generation !== rejectedGeneration && remainingMs(row) > marginMs;

const sinceRefreshMs = ({ last_refreshed_at: at, read_at: readAt }: Times): number =>
  at === null ? Number.POSITIVE_INFINITY : readAt.getTime() - at.getTime();

function isDue(row: Times): boolean {
  const leftMs = remainingMs(row);
  return leftMs <= nearEndMs || (leftMs <= refreshBeforeEndMs && sinceRefreshMs(row) >= minBetweenRefreshesMs);
}

/**
 * The next step with the tokens of a row: use them, or replace them first. A token that was replaced a moment ago, and
 * is refused too, is returned as it is: another would not help.
 */
export function chooseNext(
  row: Times,
  {
    rejectedGeneration,
    canRefresh,
  }: { readonly rejectedGeneration?: number | undefined; readonly canRefresh: boolean },
): "use" | "replace" {
  const isUsable = remainingMs(row) > marginMs;
  if (row.generation === rejectedGeneration)
    return isUsable && sinceRefreshMs(row) < minBetweenRejectionsMs ? "use" : "replace";
  if (!isUsable) return "replace";
  return canRefresh && isDue(row) && !isClaimed(row) ? "replace" : "use";
}
