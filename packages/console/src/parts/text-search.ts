const isQuoted = (value: string): boolean => /^".*"$/s.test(value);

/** A text in quotes, as in JSON. Older addresses quote a text that looks like a number. */
const unquoted = (value: string): string => {
  if (!isQuoted(value)) return value;
  try {
    return String(JSON.parse(value));
  } catch {
    return value;
  }
};

/** Parses the search of an address for the router, which by itself would turn `1.10` into the number 1.1 and round a long id. */
export const parseSearch = (search: string): Record<string, string> =>
  Object.fromEntries([...new URLSearchParams(search)].map(([name, value]) => [name, unquoted(value)]));

const toWritten = (value: unknown): string => {
  const text = String(value);
  // Without another pair of quotes, parsing would strip the text's own.
  return isQuoted(text) ? JSON.stringify(text) : text;
};

/** Writes what `parseSearch` reads. */
export function stringifySearch(search: Record<string, unknown>): string {
  const present = Object.entries(search).filter(([, value]) => value !== undefined && value !== null);
  const written = new URLSearchParams(present.map(([name, value]) => [name, toWritten(value)])).toString();
  return written && `?${written}`;
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

/** Reads these texts from an address. Missing and empty ones are undefined. */
export const textSearch =
  <Name extends string>(...names: readonly Name[]) =>
  (search: Record<string, unknown>): { readonly [N in Name]?: string | undefined } =>
    Object.fromEntries(names.map((name) => [name, textOf(search[name])])) as {
      readonly [N in Name]?: string | undefined;
    };
