import type { Style, Terminal } from "../terminal.ts";

const styles: Readonly<Record<string, Style>> = {
  running: "green",
  active: "green",
  completed: "green",
  enabled: "green",
  delivered: "green",
  pending: "yellow",
  waiting: "yellow",
  needs_reauth: "red",
  open: "yellow",
  approved: "green",
  answered: "green",
  rejected: "red",
  paused: "yellow",
  warn: "yellow",
  info: "cyan",
  debug: "dim",
  failed: "red",
  error: "red",
  rolled_back: "red",
  revoked: "red",
  expired: "red",
  disabled: "red",
};

/** A name of the API as people write it: `rolled_back` is `rolled back`. */
export const spaced = (name: string): string => name.replaceAll("_", " ");

/** A status or a level in its colour. */
export const coloured = ({ style }: Terminal, word: string, width = 0): string => {
  const padded = spaced(word).padEnd(width);
  const chosen = styles[word];
  return chosen ? style(chosen, padded) : padded;
};
