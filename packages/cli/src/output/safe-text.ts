/**
 * Text that others wrote may contain control sequences: they clear the screen, set the clipboard or the window's title,
 * hide text, or answer as if the user had typed. Only text, newlines and tabs are left after this.
 */
const csi = String.raw`(?:\x1b\[|\x9b)[\x20-\x3f]*[\x40-\x7e]`;
const stringBegin = String.raw`(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])`;
const stringText = String.raw`[^\x00-\x1f\x7f-\x9f]*`;
const oscAndOthers = String.raw`${stringBegin}${stringText}(?:\x07|\x1b\\|\x9c)`;
const shortEscape = String.raw`\x1b[\x20-\x2f]*[\x30-\x5a\x5c\x60-\x7e]`;
const control = String.raw`[\x00-\x08\x0b-\x1f\x7f-\x9f]`;
const bidi = String.raw`[\u202a-\u202e\u2066-\u2069]`;

const unsafe = new RegExp([csi, oscAndOthers, shortEscape, control, bidi].join("|"), "g");
// Or the first half of a character that takes two.
const unfinished = new RegExp(
  String.raw`(?:(?:\x1b\[|\x9b)[\x20-\x3f]*|${stringBegin}${stringText}\x1b?|\x1b[\x20-\x2f]*|[\ud800-\udbff])$`,
);

/** A sequence that has no end is not a sequence, so only its control character is removed, and its text is shown. */
export const safeText = (text: string): string => text.replaceAll(unsafe, "");

// Longer than any sequence that a terminal obeys, and short enough to buffer.
const maxHeldCharacters = 4096;

/** The same for a stream, in which a sequence may begin in one chunk and end in a later one. */
export function createSafeStream() {
  let held = "";
  return {
    push: (chunk: string): string => {
      const text = held + chunk;
      const begin = text.search(unfinished);
      const isHeld = begin >= 0 && text.length - begin <= maxHeldCharacters;
      held = isHeld ? text.slice(begin) : "";
      return safeText(isHeld ? text.slice(0, begin) : text);
    },
    /** The buffered rest, once nothing follows. */
    end: (): string => {
      const rest = safeText(held);
      held = "";
      return rest;
    },
  };
}

const toEscape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** JSON of exactly this value. Control characters that JSON.stringify leaves as they are become escapes. */
export function jsonText(value: unknown, indent?: number): string {
  const text: string | undefined = JSON.stringify(value, null, indent);
  return (text ?? "").replaceAll(/[\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, toEscape);
}
