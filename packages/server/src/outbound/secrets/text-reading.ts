import type { PatternAutomaton } from "./pattern-automaton.ts";

/** How the escapes of a text are read. A text has several readings, because a value may itself look like an escape. */
export interface Escapes {
  readonly url: boolean;
  readonly json: boolean;
  /** Otherwise NUL ends a match, whatever the automaton finds. */
  readonly ignoresNul: boolean;
}

export type OnMatch = (start: number, end: number, id: number) => void;

/** One reading of a text that arrives character by character. */
export interface TextReading {
  readonly push: (code: number, position: number) => void;
  /** Whether a match may have begun. */
  readonly isOpen: () => boolean;
  /** Continues at the position of the reading without escapes: until the first escape they are the same. */
  readonly continueFrom: (plain: TextReading) => void;
  readonly tracks: readonly Track[];
  /** The start of the earliest match that may still come; undefined if there is none. */
  readonly findOpenStart: () => number | undefined;
  /** Reads an escape that was cut off as ordinary characters. */
  readonly end: () => void;
}

interface Track {
  readonly feed: (code: number, start: number, end: number) => void;
  readonly isOpen: () => boolean;
  readonly findOpenStart: () => number | undefined;
  readonly position: () => { readonly state: number; readonly count: number; readonly starts: Int32Array | undefined };
  readonly continueFrom: (track: Track) => void;
}

/**
 * Follows one automaton, and stores the position of each of the last characters, because an escape is longer than its
 * character.
 */
function createTrack(automaton: PatternAutomaton, ignoresNul: boolean, onMatch: OnMatch): Track {
  const { step, depth, ended, idOf, continues, isIgnored, longest } = automaton;
  const mask = 2 ** Math.ceil(Math.log2(longest + 1)) - 1;
  // Made when a match may begin: most texts are short, and have nothing of a value.
  let starts: Int32Array | undefined;
  let count = 0;
  let state = 0;
  const startOf = (length: number): number => starts?.[(count - length) & mask] ?? 0;
  return {
    feed: (code: number, start: number, end: number): void => {
      if (isIgnored(code) && (code !== 0 || ignoresNul)) return;
      state = step(state, code);
      if (state === 0) return;
      starts ??= new Int32Array(mask + 1);
      starts[count++ & mask] = start;
      const found = ended(state);
      if (found === 0) return;
      onMatch(startOf(depth(found)), end, idOf(found));
      if (found === state && !continues(state)) state = 0;
    },
    isOpen: () => state !== 0,
    findOpenStart: () => (state === 0 ? undefined : startOf(depth(state))),
    position: () => ({ state, count, starts }),
    continueFrom: (track) => {
      const other = track.position();
      state = other.state;
      count = other.count;
      if (state === 0 || !other.starts) return;
      starts ??= new Int32Array(mask + 1);
      starts.set(other.starts);
    },
  };
}

export const percent = "%".charCodeAt(0);
export const backslash = "\\".charCodeAt(0);
export const letterU = "u".charCodeAt(0);
const zero = "0".charCodeAt(0);
const other = 0x100;

/** After a backslash in JSON. */
export const shortEscapes = new Map(
  Object.entries({ '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" }).map(
    ([letter, character]) => [letter.charCodeAt(0), character.charCodeAt(0)],
  ),
);

export const hexValue = (code: number): number => {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
};

/**
 * The result for an escape of which `held` is known: the code that it means, "more", or "none" if it is not an escape.
 */
function readEscape(held: readonly number[], code: number): number | "more" | "none" {
  const isUrl = held[0] === percent;
  const prefix = isUrl ? 1 : 4;
  if (!isUrl && held.length === 1) return shortEscapes.get(code) ?? (code === letterU ? "more" : "none");
  // Values are ASCII: the only escapes of interest are \u00XX.
  if (held.length < prefix) return code === zero ? "more" : "none";
  const low = hexValue(code);
  if (low < 0) return "none";
  if (held.length === prefix) return "more";
  return hexValue(held[prefix] ?? other) * 16 + low;
}

export function createReading(
  { url, json, ignoresNul }: Escapes,
  automata: readonly PatternAutomaton[],
  onMatch: OnMatch,
): TextReading {
  const tracks = automata.map((automaton) => createTrack(automaton, ignoresNul, onMatch));
  let held: number[] = [];
  let heldStart = 0;
  const feed = (code: number, start: number, end: number): void => {
    for (const track of tracks) track.feed(code, start, end);
  };
  const release = (): void => {
    const codes = held;
    held = [];
    for (const [at, code] of codes.entries()) feed(code, heldStart + at, heldStart + at + 1);
  };
  const push = (code: number, position: number): void => {
    if (held.length === 0) {
      if ((url && code === percent) || (json && code === backslash)) {
        held = [code];
        heldStart = position;
      } else feed(code, position, position + 1);
      return;
    }
    const read = readEscape(held, code);
    if (read === "more") held.push(code);
    else if (read === "none") {
      release();
      push(code, position);
    } else {
      held = [];
      feed(read, heldStart, position + 1);
    }
  };
  return {
    push,
    tracks,
    isOpen: () => {
      if (held.length > 0) return true;
      for (const track of tracks) if (track.isOpen()) return true;
      return false;
    },
    continueFrom: (plain) => {
      for (const [at, track] of plain.tracks.entries()) tracks[at]?.continueFrom(track);
    },
    findOpenStart: () => {
      const opened = tracks.flatMap((track) => track.findOpenStart() ?? []);
      return held.length > 0 || opened.length > 0
        ? Math.min(...opened, held.length > 0 ? heldStart : Infinity)
        : undefined;
    },
    end: release,
  };
}
