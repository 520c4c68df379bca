type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the fields that nobody set: the API refuses what it does not know, and undefined is nothing to send. */
export const given = <T extends object>(fields: T): Given<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>;
