/** One host per line. */
export const hostsOf = (text: string): string[] =>
  text
    .split(/\s+/)
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** A host that is new needs the value again: nobody may have a stored secret sent elsewhere. */
export const newHosts = (before: readonly string[], text: string): readonly string[] =>
  hostsOf(text).filter((host) => !before.includes(host));
