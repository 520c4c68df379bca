const unescapeJson = (text: string): string => {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
};

const unescapeUrl = (text: string): string =>
  text.replaceAll(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

const lowerHex = (encoded: string): string => encoded.replaceAll(/%../g, (escaped) => escaped.toLowerCase());

/** Longer values are searched in fewer forms, because each form costs memory, and time in every call. */
const maxLengthOfAllForms = 256;

/** As encoders write the value: JSON, paths and queries of addresses. Mostly all are the same. */
function encodedForms(value: string): readonly string[] {
  if (value.length > maxLengthOfAllForms) return [...new Set([value, JSON.stringify(value).slice(1, -1)])];
  const inAddresses = [encodeURIComponent(value), new URLSearchParams({ "": value }).toString().slice(1)];
  return [...new Set([value, JSON.stringify(value).slice(1, -1), ...inAddresses, ...inAddresses.map(lowerHex)])];
}

/** Shorter texts, and those that are not ASCII, do not count as values. */
const isLikeValue = (text: string): boolean => /^[\x20-\x7e]{8,}$/.test(text);

/**
 * The value as encoders write it and decoders leave it: texts are encoded twice (JSON within JSON), and some encoders
 * do not change text that looks encoded already. Each of these is then found with any of its characters escaped.
 */
export const plainForms = (value: string): readonly string[] => [
  ...new Set([...encodedForms(value), ...[unescapeJson(value), unescapeUrl(value)].filter(isLikeValue)]),
];

const bitsOfByte = 8;
const bitsOfCharacter = 6;

/**
 * The base64 form of the value after so many other bytes, without the characters that depend on the neighbouring bytes.
 */
function base64After(text: string, bytesBefore: number): string {
  const before = bitsOfByte * bytesBefore;
  const bits = before + bitsOfByte * Buffer.byteLength(text);
  return Buffer.from("\0".repeat(bytesBefore) + text)
    .toString("base64")
    .slice(Math.ceil(before / bitsOfCharacter), Math.floor(bits / bitsOfCharacter));
}

export const base64Forms = (value: string): readonly string[] =>
  encodedForms(value).flatMap((form) => [0, 1, 2].map((bytesBefore) => base64After(form, bytesBefore)));
