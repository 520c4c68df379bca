import type { RunEvent } from "./run-streams.ts";

/** A reader keeps `text.slice(0, offset) + text of the token`. Offsets count UTF-16 code units, as JavaScript strings do. */
export interface TextToken {
  readonly offset: number;
  readonly text: string;
}

/**
 * Compares the text of an attempt, as it arrives, with the text that an earlier attempt of the step left in the stream.
 */
export interface TextDiff {
  /** The token to store for this delta, if any. */
  readonly append: (delta: string) => TextToken | undefined;
  /** The token to store at the end of the attempt, if any: after it the stream holds exactly this attempt's text. */
  readonly finish: () => TextToken | undefined;
}

const isHighSurrogate = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xd800;

function commonLength(text: string, other: string, otherFrom: number): number {
  const max = Math.min(text.length, other.length - otherFrom);
  let length = 0;
  while (length < max && text.charCodeAt(length) === other.charCodeAt(otherFrom + length)) length++;
  return length;
}

export function createTextDiff(before: string): TextDiff {
  /** Code units of this attempt that the stream holds, from the start. */
  let length = 0;
  let repeating = before !== "";
  /** The first half of a surrogate pair, held back until the second arrives: half a character cannot be displayed. */
  let held = "";

  const add = (text: string): TextToken | undefined => {
    if (text === "") return undefined;
    let common = 0;
    if (repeating) {
      common = commonLength(text, before, length);
      if (common === text.length) {
        length += common;
        return undefined;
      }
      // Two characters may differ in their second half only.
      if (common > 0 && isHighSurrogate(text, common - 1)) common--;
      repeating = false;
    }
    const token = { offset: length + common, text: text.slice(common) };
    length += text.length;
    return token;
  };

  return {
    append: (delta) => {
      const text = held + delta;
      const end = isHighSurrogate(text, text.length - 1) ? text.length - 1 : text.length;
      held = text.slice(end);
      return add(text.slice(0, end));
    },
    finish: () => {
      const last = add(held);
      held = "";
      if (last || !repeating || length === before.length) return last;
      repeating = false;
      return { offset: length, text: "" };
    },
  };
}

/** The text that a reader of these tokens has. */
export function foldTokens(tokens: Iterable<TextToken>): string {
  let text = "";
  for (const token of tokens) text = text.slice(0, token.offset) + token.text;
  return text;
}

export const textOfStep = (events: readonly RunEvent[], step: number): string =>
  foldTokens(events.flatMap((event) => (event.type === "token" && event.step === step ? [event] : [])));
