/** The public names of an SDK, in `snake_case`. */
export interface Surface {
  readonly client: {
    readonly options: readonly string[];
    readonly methods: readonly string[];
    readonly namespaces: Readonly<Record<string, readonly string[]>>;
  };
  readonly errors: Readonly<Record<string, { readonly parent: string; readonly fields: readonly string[] }>>;
  readonly classes: Readonly<Record<string, readonly string[]>>;
  readonly functions: readonly string[];
}

/** A line for each name, so that two surfaces can be compared. */
export function linesOf({ client, errors, classes, functions }: Surface): string[] {
  const members = (owners: Readonly<Record<string, readonly string[]>>): string[] =>
    Object.entries(owners).flatMap(([owner, names]) => names.map((name) => `${owner}.${name}`));
  const inherited = (name: string): readonly string[] => errors[name]?.fields ?? [];
  // Every error has a message under some name: in Python it is `str(error)` too.
  const isOwn = (parent: string) => (field: string) => field !== "message" && !inherited(parent).includes(field);
  return [
    ...client.options.map((name) => `Perch(${name})`),
    ...client.methods.map((name) => `Perch.${name}`),
    ...members(client.namespaces),
    ...Object.entries(errors).flatMap(([name, { parent, fields }]) => [
      `${name} extends ${parent}`,
      ...fields.filter(isOwn(parent)).map((field) => `${name}.${field}`),
    ]),
    ...members(classes),
    ...functions.map((name) => `${name}()`),
  ].toSorted();
}
