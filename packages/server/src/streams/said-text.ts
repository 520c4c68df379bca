import type { RunEvent } from "./run-streams.ts";

/** Whoever reads keeps `text.slice(0, offset) + text of the token`. Offsets count UTF-16 code units, as JavaScript strings do. */
export interface TextToken {
  readonly offset: number;
  readonly text: string;
}

/** Compares an attempt of a step, as it is said, with what an earlier attempt of it left in the stream. */
export interface SaidText {
  /** What to append for this much more text, if anything. */
  readonly say: (delta: string) => TextToken | undefined;
  /** What to append when the attempt has said all: after it the stream holds its text and no more. */
  readonly finish: () => TextToken | undefined;
}

const isHighSurrogate = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xd800;

function commonLength(text: string, other: string, otherFrom: number): number {
  const most = Math.min(text.length, other.length - otherFrom);
  let length = 0;
  while (length < most && text.charCodeAt(length) === other.charCodeAt(otherFrom + length)) length++;
  return length;
}

export function createSaidText(before: string): SaidText {
  /** Code units of this attempt that the stream holds, from the start. */
  let length = 0;
  let repeating = before !== "";
  /** The first half of a surrogate pair, kept back until the second comes: half a character can be shown by nobody. */
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
    say: (delta) => {
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
