import fc, { type Arbitrary } from "fast-check";

/** Texts that are known to break services. */
const oddTexts = [
  "' or 1=1 --",
  "'; drop table agents; --",
  "$" + "{7*7}",
  "{{constructor.constructor('return process')()}}",
  "<script>alert(1)</script>",
  "../../etc/passwd",
  "..\\..\\windows",
  "%00",
  "%",
  "__proto__",
  "constructor",
  "toString",
  "\u202eevil\u202c",
  "مرحبا",
  "👩‍👩‍👧‍👦",
  "e\u0301\u0301\u0301",
  "\ufeffbom",
  "\r\nset-cookie: a=b",
  "\t\v\f",
  "null",
  "undefined",
  "NaN",
  "-0",
  "1e400",
  "0x10",
  "{message}{message}",
  "draft",
  ".",
  "..",
  "*",
  "\\",
  "\u2028\u2029",
  "\u0085",
] as const;

export const oddText: Arbitrary<string> = fc.constantFrom(...oddTexts);

/** A text of this length, in UTF-16 units: plain, odd, or at the very edge. */
export function text(min: number, max: number): Arbitrary<string> {
  const fits = ({ length }: string) => length >= min && length <= max;
  const plain = fc.string({ minLength: min, maxLength: Math.max(min, Math.min(max, 24)) });
  const unicode = fc.string({ unit: "binary", minLength: min, maxLength: Math.max(min, Math.min(max, 12)) });
  const edges = fc.constantFrom("x".repeat(min), "é".repeat(min), ...(max <= 70_000 ? ["x".repeat(max)] : []));
  return fc
    .oneof({ weight: 4, arbitrary: plain }, oddText, unicode, edges)
    .map((value) => (fits(value) ? value : "x".repeat(min)));
}

/** Times that ISO 8601 can write: the near past, and those at which calendars, clocks and databases end. */
export const instant: Arbitrary<string> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.integer({ min: -40 * 86_400, max: 86_400 }).map((s) => new Date(Date.now() + s * 1000).toISOString()),
  },
  fc
    .date({ min: new Date("0000-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59Z"), noInvalidDate: true })
    .map((date) => date.toISOString()),
  fc.constantFrom(
    "0000-01-01T00:00:00Z",
    "0000-01-01T00:00:00+23:59",
    "0001-01-01T00:00:00Z",
    "1582-10-10T00:00:00Z",
    "1969-12-31T23:59:59.999999999Z",
    "2000-02-29T23:59:59-12:00",
    "2038-01-19T03:14:08Z",
    "9999-12-31T23:59:59.999999999Z",
    "9999-12-31T23:59:59-23:59",
  ),
);

/** Only addresses at which nothing listens or that the guard refuses, so that the fuzz run stays on this machine. */
export const url: Arbitrary<string> = fc.constantFrom(
  "http://127.0.0.1:9/",
  "https://127.0.0.1:9/path?a={b}",
  "http://[::1]:9/",
  "http://169.254.169.254/latest/meta-data/",
  "http://10.0.0.1/",
  "http://0.0.0.0:80/",
  "http://127.1/",
  "http://2130706433/",
  "http://localhost:9/",
);

export const networkAddress: Arbitrary<string> = fc.constantFrom(
  "127.0.0.1",
  "10.0.0.0/8",
  "0.0.0.0/0",
  "::1",
  "::ffff:127.0.0.1",
  "fe80::/10",
  "2001:db8::1",
  "255.255.255.255/32",
);

/** A value of a wrong type, size or range. */
export const wrongValue: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1.5,
    -0,
    2 ** 31,
    2 ** 53,
    -(2 ** 63),
    1e308,
    5e-324,
    "",
    " ",
    "0",
    "x".repeat(300),
    "é".repeat(70_000),
    "a\0b",
    "\ud800",
    "\udfff\ud800",
    [],
    {},
    [[]],
    [null],
    { a: { b: { c: [] } } },
    Array.from({ length: 2000 }, () => 1),
    { length: 1e9 },
    { toString: null },
  ),
  oddText,
  fc.jsonValue({ maxDepth: 3 }),
);
