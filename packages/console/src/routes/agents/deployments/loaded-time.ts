import type { Deployment } from "@perch/sdk";

interface LoadedPages {
  /** The creation time of the oldest loaded deployment. */
  readonly oldest: string | undefined;
  readonly hasNextPage: boolean;
  readonly isFetching: boolean;
  readonly isError: boolean;
}

/**
 * Whether the next page has to be loaded for the visible time. After an error it is not requested at once, but after the next successful
 * poll or when the user asks for more.
 */
export const isPageMissing = ({ oldest, hasNextPage, isFetching, isError }: LoadedPages, start: Date): boolean =>
  hasNextPage && !isFetching && !isError && oldest !== undefined && Date.parse(oldest) > start.getTime();

/** Each deployment once, from the first list that has it. */
export const uniteDeployments = (...lists: readonly (readonly Deployment[])[]): Deployment[] => [
  ...new Map(
    lists
      .flat()
      .toReversed()
      .map((each) => [each.id, each]),
  ).values(),
];
