import type { PatternAutomaton } from "./pattern-automaton.ts";
import { backslash, hexValue, letterU, percent, shortEscapes } from "./text-reading.ts";

const codes = 256;

/**
 * How many characters can be passed if these two follow each other and no match has begun; 0 if one may begin. Nearly
 * all of a text is passed in this way, which makes reading it several times as fast.
 */
export type PassablePairs = (code: number, next: number) => number;

/** The length of the escape that is here in a text, if no match begins in it however it is read; otherwise 0. */
export type PassableEscapes = (text: string, at: number) => number;

type Begins = (code: number) => boolean;

const createBegins = (automata: readonly PatternAutomaton[]): Begins => {
  const begins = Array.from({ length: codes }, (_, code) => automata.some(({ step }) => step(0, code) !== 0));
  return (code) => begins[code] === true;
};

export function createPassableEscapes(automata: readonly PatternAutomaton[]): PassableEscapes {
  const begins = createBegins(automata);
  return (text, at) => {
    const isUrl = text.charCodeAt(at) === percent;
    if (!isUrl && !text.startsWith("\\u00", at)) return 0;
    const length = isUrl ? 3 : 6;
    const high = hexValue(text.charCodeAt(at + length - 2));
    const low = hexValue(text.charCodeAt(at + length - 1));
    if (high < 0 || low < 0 || begins(high * 16 + low)) return 0;
    for (let part = at; part < at + length; part++) if (begins(text.charCodeAt(part))) return 0;
    return length;
  };
}

export function createPassablePairs(automata: readonly PatternAutomaton[]): PassablePairs {
  const begins = createBegins(automata);
  const continues = (code: number, next: number): boolean =>
    automata.some(({ step, depth, isIgnored }) => {
      const state = step(0, code);
      if (state === 0) return false;
      return next === percent || next === backslash || isIgnored(next) || depth(step(state, next)) === 2;
    });
  const passed = new Uint8Array(codes * codes).fill(1);
  for (let code = 0; code < codes; code++)
    if (begins(code))
      for (let next = 0; next < codes; next++) if (continues(code, next)) passed[code * codes + next] = 0;
  for (let next = 0; next < codes; next++) {
    if (hexValue(next) >= 0) passed[percent * codes + next] = 0;
    const escaped = shortEscapes.get(next);
    // The letter of an escape is not passed by itself, because it would be read as an ordinary one.
    if (next === letterU || (escaped !== undefined && (begins(escaped) || begins(next))))
      passed[backslash * codes + next] = 0;
    else if (escaped !== undefined && passed[backslash * codes + next] !== 0) passed[backslash * codes + next] = 2;
  }
  return (code, next) => (code >= codes || next >= codes ? 1 : (passed[code * codes + next] as number));
}
