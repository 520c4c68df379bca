import type { Block } from "./markdown-blocks.ts";

/**
 * Compares the output in a page with the real output. Some values differ from run to run, and each stands for any other of its kind: ids,
 * times, ids of stream events and log entries, durations in milliseconds, the port on this machine, and what a slow run waited for.
 * In the page, `…` stands for any text within a line, and a line with only `…` for any lines. Spaces at the end of a line do not
 * count. Everything else must be equal.
 */
const variables = [
  [/^waiting for .*\n/gm, ""],
  [/\b(agent|org|key|req|corr|dep|mem|clr|wh|dlv|evt|aud|appr|conn)_[0-9a-hjkmnp-tv-z]{26}\b/g, "$1_<id>"],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{3})?(Z| [A-Z]{3,5}([+-][\d:]+)?)/g, "<time>"],
  // A page that leaves out the zone differs from a command that prints it.
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{3})?/g, "<time without a zone>"],
  [/\b\d{13}-\d+\b/g, "<event id>"],
  // Ids of log entries: the time and the number of the entry, in base64.
  [/\bWz[0-9A-Za-z_-]{14,40}/g, "<log id>"],
  [/("(?:duration|retry_after)_ms": ?|\b(?:duration|retry_after)_ms=)\d+/g, "$1<n>"],
  [/\b\d+ ms\b/g, "<n> ms"],
  [/\b\d+\.\d s\b/g, "<n> s"],
  [/http:\/\/127\.0\.0\.1:\d+/g, "http://127.0.0.1:<port>"],
] as const;

const maskText = (text: string): string =>
  variables.reduce((masked, [pattern, name]) => masked.replaceAll(pattern, name), text);

/** The same value with the variable parts replaced by names, so that two replies can be compared. */
function maskValue(value: unknown, field = ""): unknown {
  if (typeof value === "string") return maskText(value);
  if (typeof value === "number" && (field === "duration_ms" || field === "retry_after_ms")) return "<n>";
  if (Array.isArray(value)) return value.map((inner) => maskValue(inner));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, maskValue(inner, name)]));
}

/** `actual`, or `printed` if both are the same except for the parts that it leaves out. */
function elideText(printed: string, actual: string): string {
  if (!printed.includes("…")) return actual;
  const escaped = printed.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const pattern = escaped.replaceAll(/^…$/gm, "[\\s\\S]*").replaceAll("…", "[^\\n]*");
  return new RegExp(`^${pattern}$`).test(actual) ? printed : actual;
}

function elideValue(printed: unknown, actual: unknown): unknown {
  if (typeof printed === "string" && typeof actual === "string") return elideText(printed, actual);
  if (Array.isArray(printed) && Array.isArray(actual))
    return actual.map((inner, index) => elideValue(printed[index], inner));
  if (printed === null || actual === null || typeof printed !== "object" || typeof actual !== "object") return actual;
  const fields = printed as Record<string, unknown>;
  return Object.fromEntries(Object.entries(actual).map(([name, inner]) => [name, elideValue(fields[name], inner)]));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Two values that must be equal, with the variable parts masked in both. */
export interface Comparison {
  readonly part: "reply" | "status and headers" | "body";
  readonly expected: unknown;
  readonly actual: unknown;
}

function compareText(part: Comparison["part"], printed: string, output: string): Comparison {
  const clean = (text: string) => maskText(text.trim().replaceAll(/[ \r]+$/gm, ""));
  const expected = clean(printed);
  return { part, expected, actual: elideText(expected, clean(output)) };
}

function compareJson(part: Comparison["part"], printed: unknown, output: unknown): Comparison {
  const expected = maskValue(printed);
  return { part, expected, actual: elideValue(expected, maskValue(output)) };
}

function splitHttp(message: string) {
  const [head = "", ...body] = message.trim().replaceAll("\r\n", "\n").split("\n\n");
  const [status = "", ...headers] = head.split("\n");
  return { status, headers: headers.map((line) => line.toLowerCase()), body: body.join("\n\n").trim() };
}

/** Compares the status line, the body, and those headers that the page prints. A page may leave out the body. */
function compareHttp(printed: string, output: string): Comparison[] {
  const expected = splitHttp(printed);
  const received = splitHttp(output);
  const names = new Set(expected.headers.map((line) => line.split(":")[0]));
  const headers = received.headers.filter((line) => names.has(line.split(":")[0]));
  const headOf = (status: string, lines: readonly string[]) => [status, ...lines.toSorted()].join("\n");
  const head = compareText(
    "status and headers",
    headOf(expected.status, expected.headers),
    headOf(received.status, headers),
  );
  if (expected.body === "") return [head];
  const json = parseJson(expected.body);
  const body =
    json === undefined
      ? compareText("body", expected.body, received.body)
      : compareJson("body", json, parseJson(received.body) ?? received.body);
  return [head, body];
}

/** The output that a page prints below a block, beside the block's real output. */
export function compareReply({ language, text }: Block, output: string): Comparison[] {
  if (language === "json") return [compareJson("reply", JSON.parse(text), parseJson(output) ?? output)];
  return language === "http" ? compareHttp(text, output) : [compareText("reply", text, output)];
}
