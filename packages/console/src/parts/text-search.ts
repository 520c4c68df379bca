/** The router takes a text such as `4217` in an address for a number. */
const textOf = (value: unknown): string | undefined => {
  const text = typeof value === "number" || typeof value === "boolean" ? String(value) : value;
  return typeof text === "string" && text !== "" ? text : undefined;
};

/** Reads these texts from an address. What is missing or empty is undefined. */
export const textSearch =
  <Name extends string>(...names: readonly Name[]) =>
  (search: Record<string, unknown>): { readonly [N in Name]?: string | undefined } =>
    Object.fromEntries(names.map((name) => [name, textOf(search[name])])) as {
      readonly [N in Name]?: string | undefined;
    };
