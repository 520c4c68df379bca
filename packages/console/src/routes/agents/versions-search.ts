/** The two versions that are compared, as labels or `draft`; or the one whose definition is shown. */
export interface VersionsSearch {
  readonly shown?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const textOf = (value: unknown): string | undefined => {
  // A label such as 2 or 1.5 comes out of an address as a number.
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
};

export const parseVersionsSearch = ({ from, to, shown }: Record<string, unknown>): VersionsSearch => ({
  from: textOf(from),
  to: textOf(to),
  shown: textOf(shown),
});
