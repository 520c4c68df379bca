import type { Style, Terminal } from "../terminal.ts";

/** `2026-01-31 12:00:00`, UTC, as logs show it. */
export const time = (iso: string | null): string => (iso === null ? "-" : iso.slice(0, 19).replace("T", " "));

const styles: Readonly<Record<string, Style>> = {
  running: "green",
  active: "green",
  completed: "green",
  enabled: "green",
  delivered: "green",
  pending: "yellow",
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

/** A status or a level in its colour. */
export const coloured = ({ style }: Terminal, word: string, width = 0): string => {
  const padded = word.padEnd(width);
  const chosen = styles[word];
  return chosen ? style(chosen, padded) : padded;
};
