type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Drops fields that are undefined: optional fields of the SDK's types must be absent instead. */
export const omitUndefined = <T extends object>(fields: T): Defined<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
