import { gzipSync } from "node:zlib";
import fc, { type Arbitrary } from "fast-check";
import type { Attack, HeaderPairs, RawBody } from "./request-template.ts";

const json: HeaderPairs = [["Content-Type", "application/json"]];
const body = (name: string, bytes: (json: string) => Buffer | string, headers: HeaderPairs = json): Attack => ({
  name,
  rawBody: (text): RawBody => ({ bytes: Buffer.from(bytes(text)), headers }),
});
const typed = (type: string): Attack => body(`content type ${type}`, (text) => text, [["Content-Type", type]]);
const withField = (text: string, field: string) =>
  text.startsWith("{") && text.length > 2 ? `{${field},${text.slice(1)}` : `{${field}}`;

const bodyAttacks: readonly Attack[] = [
  body("a field twice", (text) => withField(text, `${text.slice(1).match(/^"[^"\\]*":/)?.[0] ?? '"a":'}1`)),
  body("__proto__", (text) => withField(text, '"__proto__":{"polluted":true}')),
  body("__proto__ escaped", (text) => withField(text, '"\\u005f_proto__":{"polluted":true}')),
  body("constructor.prototype", (text) => withField(text, '"constructor":{"prototype":{"polluted":true}}')),
  body("constructor", (text) => withField(text, '"constructor":1,"hasOwnProperty":1,"toString":1,"valueOf":null')),
  body("deep arrays", () => `${"[".repeat(50_000)}${"]".repeat(50_000)}`),
  body("deep objects", (text) => withField(text, `"metadata":${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`)),
  body("over 1 MiB", (text) => withField(text, `"name":"${"x".repeat(1024 * 1024)}"`)),
  body("wide", (text) => withField(text, Array.from({ length: 20_000 }, (_, i) => `"k${i}":1`).join())),
  body("NULs", (text) => text.replaceAll(/":"/g, '":"\\u0000')),
  body("half a character", (text) => text.replaceAll(/":"/g, '":"\\ud83d')),
  body("broken UTF-8", (text) =>
    Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.from([0xff, 0xc0, 0x80, 0x7d])]),
  ),
  body("broken UTF-8 inside", (text) => Buffer.from(text.replace(/":"/, '":"\u00ff'), "latin1")),
  body("UTF-16", (text) => Buffer.from(text, "utf16le")),
  body("a byte order mark", (text) => `\ufeff${text}`),
  body("cut short", (text) => text.slice(0, -1)),
  body("garbage behind", (text) => `${text}{}`),
  body("a comment", (text) => `/* hello */${text}`),
  body("NaN", (text) => withField(text, '"temperature":NaN')),
  body("Infinity by overflow", (text) => withField(text, '"temperature":1e999')),
  body("a very long number", (text) => withField(text, `"limit":${"9".repeat(5000)}`)),
  body("numbers overflow", (text) => text.replaceAll(/":-?[\d.]+/g, '":1e400')),
  body("no array, no object", () => "7"),
  body("null", () => "null"),
  body("an array", () => "[{}]"),
  body("spaces alone", () => "   \n"),
  body("nothing", () => ""),
  body("gzip", (text) => gzipSync(text), [...json, ["Content-Encoding", "gzip"]]),
  body("plain text labelled gzip", (text) => text, [...json, ["Content-Encoding", "gzip"]]),
  body("plain text labelled br, twice", (text) => text, [...json, ["Content-Encoding", "br, br"]]),
  body("no content type", (text) => text, []),
  ...[
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json; charset=utf-16",
    "application/json; charset=nonsense",
    "APPLICATION/JSON",
    "application/json;",
    'application/json; charset="utf-8"',
    "application/json, text/plain",
    "application/vnd.api+json",
    "application/jsonx",
    "*/*",
    "\u00e9",
    "/",
    ";",
  ].map(typed),
];

const target = (name: string, change: (target: string) => string, mayReachOtherOperation = true): Attack => ({
  name,
  target: change,
  mayReachOtherOperation,
});
const lastSegment = (replacement: string) => (path: string) => path.replace(/[^/?]+(?=$|\?)/, replacement);
const withQuery = (more: string) => (path: string) => `${path}${path.includes("?") ? "&" : "?"}${more}`;

const targetAttacks: readonly Attack[] = [
  target("%2e%2e", (path) => path.replace("/v1/", "/v1/%2e%2e/v1/")),
  target("..", (path) => path.replace("/v1/", "/v1/../v1/")),
  target("an encoded slash", lastSegment("a%2fb")),
  target("an encoded backslash", lastSegment("a%5cb")),
  target("an encoded NUL", lastSegment("a%00b")),
  target("an encoded line end", lastSegment("a%0d%0aset-cookie:%20x=y")),
  target("half an escape", lastSegment("a%2")),
  target("no escape", lastSegment("%zz")),
  target("broken UTF-8 in an escape", lastSegment("%c3%28%ff")),
  target("half a character in an escape", lastSegment("%ed%a0%80")),
  target("escaped twice", lastSegment("%252e%252e%252f")),
  target("a long segment", lastSegment("a".repeat(10_000))),
  target("many segments", (path) => `${path.split("?")[0]}${"/a".repeat(4000)}`),
  target("a slash behind", (path) => path.replace(/(?=$|\?)/, "/")),
  target("two slashes", (path) => path.replace("/v1/", "//v1//")),
  target("upper case", (path) => path.replace("/v1/", "/V1/")),
  // Below `/console` are pages, which are not part of the contract.
  target("no version", (path) => path.replace(/^\/v1\/(?!console)/, "/")),
  target("a semicolon", (path) => path.replace(/(?=$|\?)/, ";a=b")),
  target("a fragment", (path) => `${path}#fragment`),
  target("absolute", (path) => `http://other.example${path}`),
  target("absolute without path", () => "http://other.example"),
  target("absolute, of another scheme", (path) => `ftp://user:pass@other.example${path}`),
  target("an asterisk", () => "*"),
  target("nothing but a question mark", () => "?"),
  target("a parameter twice", withQuery("limit=1&limit=2"), false),
  target("brackets", withQuery("limit[]=1&limit[a]=2&sort[$ne]=1"), false),
  target(
    "__proto__ in a query",
    withQuery("__proto__=1&__proto__[a]=1&constructor=1&constructor.prototype.a=1"),
    false,
  ),
  target("NUL in a query", withQuery("cursor=%00&contains=%00&session_id=%00"), false),
  target("half a character in a query", withQuery("contains=%ed%a0%80&session_id=%ff"), false),
  target("no escape in a query", withQuery("contains=%zz&%=%&==&&"), false),
  target("very many parameters", withQuery(Array.from({ length: 1500 }, (_, i) => `p${i}`).join("&")), false),
  target("numbers that are none", withQuery("limit=1e2&offset=-1"), false),
  target("numbers too large", withQuery("offset=9007199254740991&limit=99999999999999999999"), false),
  target("the last offset", withQuery("offset=9007199254740991"), false),
];

const addHeaders = (name: string, lines: string, more: Partial<Attack> = {}): Attack => ({
  name,
  rewrite: (bytes) => {
    const at = bytes.indexOf("\r\n") + 2;
    return Buffer.concat([bytes.subarray(0, at), Buffer.from(lines, "latin1"), bytes.subarray(at)]);
  },
  ...more,
});

const headerAttacks: readonly Attack[] = [
  addHeaders("two keys", "Authorization: Bearer perch_x\r\n"),
  addHeaders("a huge header", `X-Huge: ${"x".repeat(30_000)}\r\n`, { mayReachOtherOperation: true }),
  addHeaders("many headers", Array.from({ length: 3000 }, (_, i) => `X-${i}: 1\r\n`).join(""), {
    mayReachOtherOperation: true,
  }),
  addHeaders("a folded header", "X-Folded: a\r\n b\r\n", { mayReachOtherOperation: true }),
  addHeaders("a header without a name", ": a\r\n", { mayReachOtherOperation: true }),
  addHeaders("a space before the colon", "X-Space : a\r\n", { mayReachOtherOperation: true }),
  addHeaders("a bare CR in a header", "X-Cr: a\rSet-Cookie: b\r\n", { mayReachOtherOperation: true }),
  addHeaders("a NUL in a header", "X-Nul: a\0b\r\n", { mayReachOtherOperation: true }),
  addHeaders("two correlation ids", "X-Correlation-Id: a\r\nX-Correlation-Id: b\r\n"),
  addHeaders("a correlation id with markup", "X-Correlation-Id: <script>\r\n"),
  addHeaders("a bad Idempotency-Key", "Idempotency-Key: a b\r\n"),
  addHeaders("an empty Idempotency-Key", "Idempotency-Key:\r\n"),
  addHeaders("a long Idempotency-Key", `Idempotency-Key: ${"k".repeat(256)}\r\n`),
  addHeaders("two Idempotency-Keys", "Idempotency-Key: a\r\nIdempotency-Key: b\r\n"),
  addHeaders("a Prefer that is none", "Prefer: wait=99999999999999999999, wait=-1, respond-async=;;\r\n"),
  addHeaders(
    "an odd Accept for events",
    "Accept: text/event-stream;q=0, \u00e9/*;;,\r\nLast-Event-ID: 99999999999999999999-x\r\n",
  ),
  addHeaders(
    "an overflowing event id",
    "Accept: text/event-stream\r\nLast-Event-ID: 9999999999999999999-9999999999999999999\r\n",
  ),
  addHeaders(
    "forwarded",
    "X-Forwarded-For: 10.0.0.1\r\nX-Forwarded-Proto: javascript\r\nX-Forwarded-Host: evil\r\nForwarded: for=evil\r\n",
  ),
  addHeaders("a method override", "X-HTTP-Method-Override: DELETE\r\nX-Original-URL: /v1/me\r\n"),
  addHeaders("a range", "Range: bytes=0-1,5-\r\nIf-None-Match: *\r\nIf-Modified-Since: nonsense\r\n"),
  addHeaders("expect 100", "Expect: 100-continue\r\n"),
  addHeaders("an unknown Expect", "Expect: the-moon\r\n"),
  addHeaders("upgrade", "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n", {
    mayReachOtherOperation: true,
    mayCloseWithoutResponse: true,
  }),
  addHeaders(
    "upgrade to h2c",
    "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n",
    { mayReachOtherOperation: true, mayCloseWithoutResponse: true },
  ),
  addHeaders(
    "an odd trace",
    "traceparent: 00-00000000000000000000000000000000-zz-ff\r\ntracestate: ===\r\nbaggage: \u00e9\r\n",
  ),
  addHeaders("an origin", "Origin: null\r\nAccess-Control-Request-Method: GET\r\nCookie: a=b; __proto__=c\r\n"),
  addHeaders("content length and chunks", "Transfer-Encoding: chunked\r\n", { mayReachOtherOperation: true }),
  addHeaders("chunks of another kind", "Transfer-Encoding: gzip, chunked\r\n", { mayReachOtherOperation: true }),
  addHeaders("two lengths", "Content-Length: 3\r\nContent-Length: 4\r\n", { mayReachOtherOperation: true }),
  addHeaders("a negative length", "Content-Length: -1\r\n", { mayReachOtherOperation: true }),
  addHeaders("two hosts", "Host: evil.example\r\n", { mayReachOtherOperation: true }),
];

const rewritten = (name: string, rewrite: (text: string) => string, mayCloseWithoutResponse = false): Attack => ({
  name,
  rewrite: (bytes) => Buffer.from(rewrite(bytes.toString("latin1")), "latin1"),
  mayReachOtherOperation: true,
  mayCloseWithoutResponse,
});

const wireAttacks: readonly Attack[] = [
  rewritten("HTTP/1.0", (text) => text.replace("HTTP/1.1", "HTTP/1.0")),
  rewritten("HTTP/9.9", (text) => text.replace("HTTP/1.1", "HTTP/9.9")),
  rewritten("HTTP/0.9", (text) => text.replace(" HTTP/1.1", "")),
  rewritten("no host", (text) => text.replace(/Host: .*\r\n/, "")),
  rewritten("an empty host", (text) => text.replace(/Host: .*\r\n/, "Host:\r\n")),
  rewritten("bare line feeds", (text) => text.replaceAll("\r\n", "\n")),
  rewritten("two spaces", (text) => text.replace(" ", "  ")),
  rewritten("bytes above ASCII in the path", (text) => text.replace("/v1/", "/v1/\u00e9\u00ff/")),
  rewritten("a lower-case method", (text) => text.replace(/^[A-Z]+/, (method) => method.toLowerCase())),
  rewritten("the beginning of HTTP/2", () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  rewritten("garbage behind", (text) => `${text}garbage\r\n\r\n`),
  rewritten("empty lines first", (text) => `\r\n\r\n${text}`),
];

const methodAttacks: readonly Attack[] = [
  "HEAD",
  "OPTIONS",
  "PUT",
  "TRACE",
  "PROPFIND",
  "QUERY",
  "M-SEARCH",
  "BREW",
  "PURGE",
  "GET",
  "POST",
  "DELETE",
  "PATCH",
]
  .map((method): Attack => ({ name: `method ${method}`, method, mayReachOtherOperation: true }))
  .concat({ name: "method CONNECT", method: "CONNECT", mayReachOtherOperation: true, mayCloseWithoutResponse: true });

const authorizationAttacks: readonly Attack[] = [
  { name: "two keys in one header", authorization: (header) => `${header}, ${header}` },
  { name: "Basic", authorization: (header) => header.replace("Bearer", "Basic") },
  { name: "no scheme", authorization: (header) => header.replace("Bearer ", "") },
  { name: "spaces behind", authorization: (header) => `${header} x` },
  { name: "a very long key", authorization: (header) => header + "A".repeat(8000) },
  { name: "bytes above ASCII in a key", authorization: (header) => `${header}\u00e9` },
  { name: "a lower-case key", authorization: (header) => header.toLowerCase() },
  { name: "an upper-case scheme", authorization: (header) => header.replace("Bearer", "BEARER") },
];

export const attacks = [
  ...bodyAttacks,
  ...targetAttacks,
  ...headerAttacks,
  ...wireAttacks,
  ...methodAttacks,
  ...authorizationAttacks,
];

export const anyAttack: Arbitrary<Attack> = fc.constantFrom(...attacks);
