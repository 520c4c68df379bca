/** Joins class names and leaves out false values. */
export const classNames = (...names: readonly (string | false | undefined | null)[]): string =>
  names.filter(Boolean).join(" ");
