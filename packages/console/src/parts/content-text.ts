/** How much of a content there is: nothing, its sizes and structure alone, or all of it. */
export type ContentExtent = "nothing" | "shape" | "all";

const shapeWord = /^(?:(?:string|array|object)\(\d+\)|number|boolean|null|\d+ more fields)$/;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isShapeWithin = (value: unknown): boolean => {
  if (typeof value === "string") return shapeWord.test(value);
  return isRecord(value) && Object.keys(value).length > 0 && Object.values(value).every(isShapeWithin);
};

const isSizeOfText = (value: unknown): boolean =>
  isRecord(value) && Object.keys(value).length === 1 && typeof value.characters === "number";

export function extentOf(value: unknown): ContentExtent {
  if (value === null || value === undefined) return "nothing";
  return isSizeOfText(value) || (isRecord(value) && isShapeWithin(value)) ? "shape" : "all";
}

/** It has more digits than a number of JavaScript: read and written again, it would be another one. */
const longNumber = /[:,[\s-]\d[\d.]{15,}/;

/** The JSON that a text is; undefined where it is none, or no object and no list. */
export function jsonIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text) || longNumber.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Indented JSON. A text that is JSON is shown as what it is, wherever it stands: tools answer with such texts. */
export const toJson = (value: unknown): string =>
  JSON.stringify(value, (_, inner) => (typeof inner === "string" ? (jsonIn(inner) ?? inner) : inner), 2) ?? "null";

export interface ContentField {
  readonly name: string | undefined;
  readonly text: string;
  readonly isJson: boolean;
}

const toField = (name: string, value: unknown): ContentField =>
  typeof value === "string" && jsonIn(value) === undefined
    ? { name, text: value, isJson: false }
    : { name, text: toJson(value), isJson: true };

/** A content as text: an object field by field, so that texts in it have their own line breaks. Empty texts say nothing. */
export const toFields = (value: unknown): readonly ContentField[] =>
  isRecord(value)
    ? Object.entries(value).flatMap(([name, inner]) => (inner === "" ? [] : [toField(name, inner)]))
    : [{ name: undefined, text: toCopy(value), isJson: typeof value !== "string" }];

/** What is copied: the text itself, or JSON, with every text in it as it was. */
export const toCopy = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "null");
