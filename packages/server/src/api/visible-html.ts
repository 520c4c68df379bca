/**
 * Characters that a reader does not see, or that change how their neighbours are shown. The same as in the console
 * (`visible-text.ts`): tab and line feed stay, joiners too, which several scripts need, and the signs of Arabic that can be seen.
 */
const hidden = /(?![\t\n\u0600-\u0605\u06DD\u200C\u200D])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

const markOf = (character: string): string =>
  `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`;

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Text from outside as HTML, for contents and for attributes in quotes: it stays text, and hidden characters become
 * visible.
 */
export const visibleHtml = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(hidden, markOf)
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");
