/** The settings of the playground, as they are in the address: a link gives a colleague the same playground. */
export interface PlaygroundSearch {
  readonly version?: string | undefined;
  /** A second version beside it. */
  readonly compare?: string | undefined;
  readonly user?: string | undefined;
  readonly session?: string | undefined;
  /** A run whose message is copied into the input, to edit and run again. */
  readonly from?: string | undefined;
}

const names = ["version", "compare", "user", "session", "from"] as const satisfies (keyof PlaygroundSearch)[];

export const parsePlaygroundSearch = (search: Record<string, unknown>): PlaygroundSearch =>
  Object.fromEntries(names.map((name) => [name, typeof search[name] === "string" ? search[name] : undefined]));
