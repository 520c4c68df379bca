import type { Deployment } from "@perch/sdk";

interface LoadedPages {
  /** When the oldest one that was loaded was made. */
  readonly oldest: string | undefined;
  readonly hasNextPage: boolean;
  readonly isFetching: boolean;
  readonly isError: boolean;
}

/**
 * Whether the next page has to be loaded for the time in sight. After an error it is not asked for at once: the next poll that succeeds
 * goes on, or somebody who asks for more.
 */
export const isPageMissing = ({ oldest, hasNextPage, isFetching, isError }: LoadedPages, start: Date): boolean =>
  hasNextPage && !isFetching && !isError && oldest !== undefined && Date.parse(oldest) > start.getTime();

/** Each once, as the first of these lists has it. */
export const uniteDeployments = (...lists: readonly (readonly Deployment[])[]): Deployment[] => [
  ...new Map(
    lists
      .flat()
      .toReversed()
      .map((each) => [each.id, each]),
  ).values(),
];
