import { retainSearchParams } from "@tanstack/react-router";

/** What the top bar chooses. It is part of every address, so that a link shows a colleague the same. */
export interface FrameSearch {
  /** The organisation that the link is about. */
  readonly org?: string | undefined;
  /** Only this environment; all of them if absent. */
  readonly env?: string | undefined;
  /** `1h`, `24h`, `7d`, `30d`, or `FROM..TO` in ISO 8601; 24 hours if absent. */
  readonly range?: string | undefined;
}

/** What a page can take from the top bar. The address keeps both on the way over pages that take none. */
export type FrameFilter = "environment" | "range";

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

export const parseFrameSearch = (search: Record<string, unknown>): FrameSearch => ({
  org: textOf(search.org),
  env: textOf(search.env),
  range: textOf(search.range),
});

export const retainFrameSearch = retainSearchParams<FrameSearch>(["org", "env", "range"]);
