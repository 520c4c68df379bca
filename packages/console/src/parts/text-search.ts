/** Reads these texts from an address. What is missing or empty is undefined. */
export const textSearch =
  <Name extends string>(...names: readonly Name[]) =>
  (search: Record<string, unknown>): { readonly [N in Name]?: string | undefined } =>
    Object.fromEntries(
      names.map((name) => [name, typeof search[name] === "string" && search[name] !== "" ? search[name] : undefined]),
    ) as { readonly [N in Name]?: string | undefined };
