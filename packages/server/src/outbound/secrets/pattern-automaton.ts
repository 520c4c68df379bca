/** Codes that all count as the first of them. */
export type EqualCodes = readonly string[];

export interface Pattern {
  readonly text: string;
  /** Returned when the pattern is found. */
  readonly id: number;
}

/**
 * Finds many patterns at once in one pass (Aho and Corasick), in time that does not depend on how many there are or how often they
 * nearly match: texts come from others. Its states are numbers, 0 the first.
 */
export interface PatternAutomaton {
  readonly step: (state: number, code: number) => number;
  /** How many codes of a pattern have been read. */
  readonly depth: (state: number) => number;
  /** The state of the longest pattern that ends here; 0 if none does. */
  readonly ended: (state: number) => number;
  readonly idOf: (ended: number) => number;
  /** Whether a longer pattern may follow. */
  readonly continues: (state: number) => boolean;
  readonly isIgnored: (code: number) => boolean;
  readonly longest: number;
  readonly shortest: number;
}

const codes = 256;

interface AutomatonOptions {
  readonly equal: EqualCodes;
  /** Read over, as if they were not there. */
  readonly ignored: string;
}

/** The trie: each state knows its first child and its next sibling, so that memory grows only with the patterns. */
function createTrie(patterns: readonly Pattern[], fold: Uint8Array) {
  const size = patterns.reduce((sum, { text }) => sum + text.length, 1);
  const [child, sibling, fail, ended, depth, id] = Array.from({ length: 6 }, () => new Int32Array(size));
  if (!child || !sibling || !fail || !ended || !depth || !id) throw new Error("unreachable");
  const symbol = new Uint8Array(size);
  const findChild = (state: number, wanted: number): number => {
    let found = child[state] ?? 0;
    while (found !== 0 && symbol[found] !== wanted) found = sibling[found] ?? 0;
    return found;
  };
  let states = 1;
  for (const pattern of patterns) {
    let state = 0;
    for (let at = 0; at < pattern.text.length; at++) {
      const wanted = fold[pattern.text.charCodeAt(at)] ?? 0;
      let next = findChild(state, wanted);
      if (next === 0) {
        next = states++;
        symbol[next] = wanted;
        depth[next] = at + 1;
        sibling[next] = child[state] ?? 0;
        child[state] = next;
      }
      state = next;
    }
    if (ended[state] === 0) {
      ended[state] = state;
      id[state] = pattern.id;
    }
  }
  return { child, sibling, fail, ended, depth, id, symbol, findChild };
}

type Trie = ReturnType<typeof createTrie>;

function follow({ fail, findChild }: Trie, from: number, wanted: number): number {
  for (let state = from; ; state = fail[state] ?? 0) {
    const next = findChild(state, wanted);
    if (next !== 0 || state === 0) return next;
  }
}

/** The next state after a mismatch: the longest other beginning of a pattern that the text ends with. */
function linkFailures(trie: Trie): void {
  const { child, sibling, fail, ended, symbol } = trie;
  const queue = [0];
  for (const state of queue)
    for (let next = child[state] ?? 0; next !== 0; next = sibling[next] ?? 0) {
      if (state !== 0) fail[next] = follow(trie, fail[state] ?? 0, symbol[next] ?? 0);
      if (ended[next] === 0) ended[next] = ended[fail[next] ?? 0] ?? 0;
      queue.push(next);
    }
}

export function createAutomaton(patterns: readonly Pattern[], { equal, ignored }: AutomatonOptions): PatternAutomaton {
  const fold = Uint8Array.from({ length: codes }, (_, code) => code);
  for (const group of equal) for (const same of group) fold[same.charCodeAt(0)] = group.charCodeAt(0);
  const isIgnoredCode = new Uint8Array(codes);
  for (const character of ignored) isIgnoredCode[character.charCodeAt(0)] = 1;
  const trie = createTrie(patterns, fold);
  linkFailures(trie);
  const { child, sibling, fail, symbol, ended, depth, id, findChild } = trie;
  const first = Int32Array.from({ length: codes }, (_, code) => findChild(0, fold[code] ?? 0));
  return {
    step: (from, code) => {
      const wanted = fold[code] ?? 0;
      // As `follow` does, without calls: every character comes through here.
      for (let state = from; state !== 0; state = fail[state] as number)
        for (let next = child[state] as number; next !== 0; next = sibling[next] as number)
          if (symbol[next] === wanted) return next;
      return first[code] ?? 0;
    },
    depth: (state) => depth[state] ?? 0,
    ended: (state) => ended[state] ?? 0,
    idOf: (state) => id[state] ?? 0,
    continues: (state) => child[state] !== 0,
    isIgnored: (code) => isIgnoredCode[code] === 1,
    longest: patterns.reduce((max, { text }) => Math.max(max, text.length), 0),
    shortest: patterns.reduce((min, { text }) => Math.min(min, text.length), Number.POSITIVE_INFINITY),
  };
}
