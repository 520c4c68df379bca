import { retainSearchParams } from "@tanstack/react-router";

/** The filters of the top bar. They are part of every address, so that a link shows a colleague the same data. */
export interface FrameSearch {
  /** The organisation that the link is about. */
  readonly org?: string | undefined;
  /** Only this environment; all of them if absent. */
  readonly env?: string | undefined;
  /** `1h`, `24h`, `7d`, `30d`, or `FROM..TO` in ISO 8601; 24 hours if absent. */
  readonly range?: string | undefined;
}

/** The filters of the top bar that a page can use. Pages that use none still pass both on in their links. */
export type FrameFilter = "environment" | "range";

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

export const parseFrameSearch = (search: Record<string, unknown>): FrameSearch => ({
  org: textOf(search.org),
  env: textOf(search.env),
  range: textOf(search.range),
});

export const retainFrameSearch = retainSearchParams<FrameSearch>(["org", "env", "range"]);
