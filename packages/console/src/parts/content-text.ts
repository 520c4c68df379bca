/** How much of a content is stored: nothing, only its sizes and structure, or all of it. */
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

/** The number has more digits than JavaScript's numbers; parsing and writing it would change it. */
const longNumber = /[:,[\s-]\d[\d.]{15,}/;

/** The JSON object or list in a text; undefined if the text is anything else. */
export function jsonIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text) || longNumber.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Indented JSON. A text that contains JSON is shown as JSON at any depth, because tools answer with such texts. */
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

/** A content as text: an object field by field, so that its texts have their own line breaks. Empty texts are left out. */
export const toFields = (value: unknown): readonly ContentField[] =>
  isRecord(value)
    ? Object.entries(value).flatMap(([name, inner]) => (inner === "" ? [] : [toField(name, inner)]))
    : [{ name: undefined, text: toCopy(value), isJson: typeof value !== "string" }];

/** The copied text: the text itself, or JSON with every text in it unchanged. */
export const toCopy = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "null");
