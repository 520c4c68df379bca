const isQuoted = (value: string): boolean => /^".*"$/s.test(value);

/** A text between quotes, as in JSON, which addresses have had where a text looks like a number. */
const unquoted = (value: string): string => {
  if (!isQuoted(value)) return value;
  try {
    return String(JSON.parse(value));
  } catch {
    return value;
  }
};

/** Reads an address for the router, which by itself takes `1.10` for the number 1.1, and a long id for one that is near it. */
export const parseSearch = (search: string): Record<string, string> =>
  Object.fromEntries([...new URLSearchParams(search)].map(([name, value]) => [name, unquoted(value)]));

const toWritten = (value: unknown): string => {
  const text = String(value);
  // Read again, it would lose its own quotes.
  return isQuoted(text) ? JSON.stringify(text) : text;
};

/** Writes what `parseSearch` reads. */
export function stringifySearch(search: Record<string, unknown>): string {
  const present = Object.entries(search).filter(([, value]) => value !== undefined && value !== null);
  const written = new URLSearchParams(present.map(([name, value]) => [name, toWritten(value)])).toString();
  return written && `?${written}`;
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

/** Reads these texts from an address. What is missing or empty is undefined. */
export const textSearch =
  <Name extends string>(...names: readonly Name[]) =>
  (search: Record<string, unknown>): { readonly [N in Name]?: string | undefined } =>
    Object.fromEntries(names.map((name) => [name, textOf(search[name])])) as {
      readonly [N in Name]?: string | undefined;
    };
