import {
  createPassableEscapes,
  createPassablePairs,
  type PassableEscapes,
  type PassablePairs,
} from "./passable-pairs.ts";
import { createAutomaton, type PatternAutomaton } from "./pattern-automaton.ts";
import { base64Forms, plainForms } from "./secret-forms.ts";
import { backslash, createReading, type OnMatch, percent } from "./text-reading.ts";

/** Text that arrives in pieces. All that `write` and `end` return together is the text without the values. */
export interface SearchedStream {
  /** Holds back only text that may still become a value. */
  readonly write: (piece: string) => string;
  readonly end: () => string;
}

/**
 * Puts its label in the place of each value: as it is, in base64 (of either alphabet, at any offset, in lines), and with any of its
 * characters URL-encoded or escaped as in JSON. A text can be made to take a second for each MiB, so only short ones are searched in
 * the main thread: see `redactor.ts`.
 */
export interface ValueSearch {
  readonly text: (text: string) => string;
  /** The beginning of a longer text: a value that is cut off at its end is left out. */
  readonly beginning: (text: string) => string;
  readonly stream: () => SearchedStream;
  /** Bytes, each as the character of its number. Those in UTF-16 are left to `text`: replaced here, the rest could not be decoded. */
  readonly byteStream: () => SearchedStream;
}

interface Match {
  readonly start: number;
  readonly end: number;
  readonly id: number;
}

/** Beside the one that takes every character as it is. */
const readings = [
  { url: true, json: false },
  { url: false, json: true },
  { url: true, json: true },
];

const isBefore = (one: Match, other: Match): boolean =>
  one.start - other.start < 0 || (one.start === other.start && (other.end - one.end || one.id - other.id) <= 0);

/**
 * Adds a match to others that are in order and apart. Those that overlap become one, named after the one that begins first. It is done
 * at once, because an answer may consist of nothing but overlapping matches.
 */
function addMatch(matches: Match[], added: Match): void {
  let joined = added;
  let at = matches.length;
  while (at > 0 && (matches[at - 1] as Match).start >= joined.end) at--;
  let from = at;
  for (let other = matches[from - 1]; other && other.end > joined.start; other = matches[from - 1]) {
    const { id } = isBefore(other, joined) ? other : joined;
    joined = { id, start: Math.min(other.start, joined.start), end: Math.max(other.end, joined.end) };
    from--;
  }
  matches.splice(from, at - from, joined);
}

/** Values, and the labels that take their places. */
export type LabelledValues = readonly (readonly [label: string, value: string])[];

interface Patterns {
  readonly labels: readonly string[];
  readonly automata: readonly PatternAutomaton[];
  readonly passable: PassablePairs;
  readonly passableEscape: PassableEscapes;
  /** No shorter text has a value. */
  readonly shortest: number;
}

function createPatterns(labelled: LabelledValues): Patterns {
  const values = labelled.map(([, value]) => value);
  const patternsOf = (formsOf: (value: string) => readonly string[]) =>
    values.flatMap((value, id) => formsOf(value).map((text) => ({ text, id })));
  // NUL is taken out of all texts that are stored: a value in UTF-16, read as UTF-8, would come to light then.
  const automata = [
    createAutomaton(patternsOf(plainForms), { equal: [" +"], ignored: "\0" }),
    createAutomaton(patternsOf(base64Forms), { equal: ["+- ", "/_"], ignored: "\0\r\n" }),
  ];
  const shortest = Math.min(...automata.map((automaton) => automaton.shortest));
  return {
    labels: labelled.map(([label]) => label),
    automata,
    passable: createPassablePairs(automata),
    passableEscape: createPassableEscapes(automata),
    shortest,
  };
}

/**
 * All readings of a text. Those with escapes rest while they would read the same as the plain one: most text has no
 * escapes, or none that could begin a value.
 */
function createReader({ automata, passable, passableEscape }: Patterns, ignoresNul: boolean, onMatch: OnMatch) {
  const plain = createReading({ url: false, json: false, ignoresNul }, automata, onMatch);
  const escaped = readings.map((escapes) => createReading({ ...escapes, ignoresNul }, automata, onMatch));
  let areResting = true;
  let isOpen = false;
  const push = (code: number, position: number): void => {
    if (areResting && (code === percent || code === backslash)) {
      for (const reading of escaped) reading.continueFrom(plain);
      areResting = false;
    }
    plain.push(code, position);
    isOpen = plain.isOpen();
    if (areResting) return;
    for (const reading of escaped) {
      reading.push(code, position);
      isOpen = reading.isOpen() || isOpen;
    }
    areResting = !isOpen;
  };
  const pass = (piece: string, at: number): number => {
    const code = piece.charCodeAt(at);
    const passed = code === percent || code === backslash ? passableEscape(piece, at) : 0;
    return passed || (at + 1 < piece.length ? passable(code, piece.charCodeAt(at + 1)) : 0);
  };
  const current = () => (areResting ? [plain] : [plain, ...escaped]);
  return {
    read: (piece: string, offset: number): void => {
      for (let at = 0; at < piece.length; ) {
        const passed = isOpen ? 0 : pass(piece, at);
        if (passed === 0) push(piece.charCodeAt(at), offset + at);
        at += Math.max(1, passed);
      }
    },
    findOpenStart: (): number => Math.min(...current().flatMap((reading) => reading.findOpenStart() ?? [])),
    end: (): void => {
      for (const reading of current()) reading.end();
    },
  };
}

function createStream(patterns: Patterns, ignoresNul: boolean): SearchedStream {
  let matches: Match[] = [];
  /** The text from `from` on has not been returned. */
  let pending = "";
  let from = 0;
  const reader = createReader(patterns, ignoresNul, (start, end, id) => addMatch(matches, { start, end, id }));

  const take = (limit: number): string => {
    const until = Math.min(limit, matches.find(({ start, end }) => start < limit && limit < end)?.start ?? limit);
    let taken = "";
    let at = from;
    for (const { start, end, id } of matches.filter((match) => match.end <= until)) {
      taken += `${pending.slice(at - from, start - from)}${patterns.labels[id]}`;
      at = end;
    }
    taken += pending.slice(at - from, until - from);
    matches = matches.filter(({ start }) => start >= until);
    pending = pending.slice(until - from);
    from = until;
    return taken;
  };

  return {
    write: (piece) => {
      reader.read(piece, from + pending.length);
      pending += piece;
      return take(Math.min(from + pending.length, reader.findOpenStart()));
    },
    end: () => {
      reader.end();
      return take(from + pending.length);
    },
  };
}

export function createValueSearch(labelled: LabelledValues): ValueSearch {
  const patterns = createPatterns(labelled);
  const stream = () => createStream(patterns, true);
  return {
    text: (whole) => {
      if (whole.length < patterns.shortest) return whole;
      const { write, end } = stream();
      return write(whole) + end();
    },
    beginning: (start) => stream().write(start),
    stream,
    byteStream: () => createStream(patterns, false),
  };
}
