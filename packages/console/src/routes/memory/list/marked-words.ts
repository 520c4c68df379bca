export interface MarkedPiece {
  readonly text: string;
  readonly isMatch: boolean;
}

/**
 * The index stores words without their endings: `deliveri` stands for delivery, `arriv` for arrived. Its last letter may differ from the
 * word's.
 */
const matches = (word: string, indexed: string): boolean => {
  const lower = word.toLowerCase();
  return lower.startsWith(indexed) || (indexed.length > 3 && lower.startsWith(indexed.slice(0, -1)));
};

/** A text in pieces, with the matched words separate. */
export function markWords(text: string, indexedWords: readonly string[]): readonly MarkedPiece[] {
  const pieces: MarkedPiece[] = [];
  for (const [piece] of text.matchAll(/[\p{L}\p{N}]+|[^\p{L}\p{N}]+/gu)) {
    const isMatch = indexedWords.some((indexed) => matches(piece, indexed.toLowerCase()));
    const last = pieces.at(-1);
    if (last && !last.isMatch && !isMatch) pieces.splice(-1, 1, { text: last.text + piece, isMatch });
    else pieces.push({ text: piece, isMatch });
  }
  return pieces;
}
