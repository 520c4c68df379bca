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

const inColour = ({ style }: Terminal, word: string, text: string): string => {
  const chosen = styles[word];
  return chosen ? style(chosen, text) : text;
};

/** A status or a level in its colour. */
export const coloured = (terminal: Terminal, word: string, width = 0): string =>
  inColour(terminal, word, spaced(word).padEnd(width));

/** The same, written as options of commands take it. */
export const colouredName = (terminal: Terminal, word: string): string => inColour(terminal, word, word);
