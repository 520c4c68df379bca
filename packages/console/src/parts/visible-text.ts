/**
 * Characters that are invisible or change how their neighbours are shown: control characters, marks that change the direction of writing,
 * zero-width spaces, line separators, and tags. Tab and line feed stay, and so do joiners, which emoji and several scripts need, and the
 * visible Arabic signs.
 */
const hidden = /((?![\t\n\u0600-\u0605\u06DD\u200C\u200D])[\p{Cc}\p{Cf}\u2028\u2029])/u;

/** `U+202E`. */
const nameOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

export interface TextPiece {
  readonly text: string;
  /** The piece stands for an invisible character. */
  readonly isMark: boolean;
}

/** Each piece is a DOM element, so a text full of hidden characters gets its marks as plain text. */
const maxPieces = 2000;

/** The text with its hidden characters by name. CRLF is one line break. */
export function visiblePieces(text: string): readonly TextPiece[] {
  const parts = text.replaceAll("\r\n", "\n").split(hidden);
  if (parts.length === 1) return [{ text: parts[0] ?? "", isMark: false }];
  const pieces = parts.map((part, index) =>
    index % 2 === 1 ? { text: nameOf(part), isMark: true } : { text: part, isMark: false },
  );
  if (pieces.length > maxPieces)
    return [{ text: pieces.map((piece) => (piece.isMark ? `⟨${piece.text}⟩` : piece.text)).join(""), isMark: false }];
  return pieces.filter((piece) => piece.text !== "");
}

/** The same as plain text, for a cell of a table. */
export const visibleText = (text: string): string =>
  hidden.test(text)
    ? visiblePieces(text)
        .map((piece) => (piece.isMark ? `⟨${piece.text}⟩` : piece.text))
        .join("")
    : text;

/** The first characters of a text, at most this many, without half a surrogate pair at the end. */
export function beginningOf(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const last = text.charCodeAt(maxCharacters - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? maxCharacters - 1 : maxCharacters);
}

const byteUnits = ["kB", "MB", "GB", "TB"] as const;

/** `312 bytes`, `4.2 kB`, `1.0 MB`, `2.0 TB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  const power = Math.min(Math.floor(Math.log10(bytes) / 3), byteUnits.length);
  return `${(bytes / 1000 ** power).toFixed(1)} ${byteUnits[power - 1]}`;
}
