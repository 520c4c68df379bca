/**
 * A value that a server outside may answer with. Bytes are written as a string with one character for each (latin1), so
 * that a text may contain bytes that are not UTF-8.
 */
export interface OutsideText {
  readonly name: string;
  /** As JSON: the literal of a string or of another value. */
  readonly literal: string;
  /** As a plain body. */
  readonly plain: string;
}

const toBytes = (text: string): string => Buffer.from(text).toString("latin1");
const fromBytes = (bytes: string): Buffer => Buffer.from(bytes, "latin1");

const ofText = (name: string, text: string): OutsideText => ({
  name,
  literal: toBytes(JSON.stringify(text)),
  plain: toBytes(text),
});
const ofJson = (name: string, json: string): OutsideText => ({ name, literal: toBytes(json), plain: toBytes(json) });
const ofBytes = (name: string, bytes: readonly number[]): OutsideText => {
  const plain = Buffer.from(bytes).toString("latin1");
  return { name, literal: `"${plain}"`, plain };
};
const nested = (open: string, inner: string, close: string, depth: number) =>
  `${open.repeat(depth)}${inner}${close.repeat(depth)}`;

export const outsideTexts: readonly OutsideText[] = [
  ofText("a NUL", "before\0after"),
  ofText("many NULs", "\0".repeat(5000)),
  ofText("the first half of a character", "half \ud83d"),
  ofText("the second half of a character", "\ude00 half"),
  ofText("halves with a NUL between them", "\ud83d\0\ude00"),
  ofText("an escaped NUL", "\\u0000 and \\\\u0000"),
  ofText("300,000 characters", "x".repeat(300_000)),
  ofText("100,000 characters of four bytes", "\u{1f600}".repeat(100_000)),
  ofText("direction overrides and controls", "\u202e\u2066abc\u0007\u001b[31m\u0085\u2028\u200f"),
  ofText("noncharacters", "\ufffe\uffff\u{10ffff}\ufeff"),
  ofText("SQL and markup", "'; drop table invocations; -- $1 %s <script>{{7*7}}"),
  ofText("line ends", "\r\n\r\ndata: {}\r\n\r\nevent: done\n\n"),
  ofText("nothing", ""),
  ofJson("an overflowing number", "1e400"),
  ofJson("a number of 5,000 digits", "9".repeat(5000)),
  ofJson("a large negative number", "-1e308"),
  ofJson("null", "null"),
  ofJson("arrays 50,000 deep", nested("[", "", "]", 50_000)),
  ofJson("objects 3,000 deep", nested('{"a":', "1", "}", 3000)),
  ofJson("__proto__", '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'),
  ofJson("hostile keys", '{"a\\u0000b":"\\u0000","\\ud83d":["\\udc00"],"toString":null,"length":-1}'),
  ofJson("a key of 100,000 characters", `{"${"k".repeat(100_000)}":1}`),
  ofBytes("no UTF-8", [0x61, 0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80, 0xf8, 0x62]),
  ofBytes("a character cut short", [0x61, 0xf0, 0x9f, 0x98]),
];

/** The text as a program reads it from JSON; undefined if it is not JSON. */
export function parsedText({ literal }: OutsideText): unknown {
  const json = fromBytes(literal).toString("utf8");
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

export { fromBytes };
