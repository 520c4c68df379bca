import { RequestVerificationError } from "../errors.ts";
import { type Item, type Member, malformed, parseDictionary, stringOf } from "./structured-fields.ts";

/** Headers of a request, as common servers represent them. Pairs may name a header more than once. */
export type RequestHeaders =
  | Headers
  | Iterable<readonly [string, string]>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request as a signature sees it (RFC 9421, section 2). */
export interface Message {
  readonly method: string;
  /** The address that the sender used, without a fragment. */
  readonly targetUri: string;
  /** All lines of a header in one; undefined if there is none. */
  readonly field: (name: string) => string | undefined;
}

/** Without space around it; a line that was folded is one line. */
const canonicalLine = (line: string): string =>
  line.replaceAll(/[ \t]*\r?\n[ \t]+/g, " ").replaceAll(/^[ \t]+|[ \t]+$/g, "");

export function readFields(headers: RequestHeaders): Message["field"] {
  const entries = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  const fields = new Map<string, string>();
  for (const [name, value] of entries)
    for (const line of typeof value === "string" ? [value] : (value ?? [])) {
      const before = fields.get(name.toLowerCase());
      fields.set(name.toLowerCase(), `${before === undefined ? "" : `${before}, `}${canonicalLine(line)}`);
    }
  return (name) => fields.get(name);
}

const uri = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]+)(\/[^?#]*)(\?[^#]*)?$/;

function derivedValue(name: string, { method, targetUri }: Message): string | undefined {
  const [, scheme, authority, path, query = ""] = uri.exec(targetUri) ?? [];
  if (path === undefined) throw malformed("The address of the request is neither a path nor a URL.");
  const values: Readonly<Record<string, string | undefined>> = {
    "@method": method,
    "@target-uri": targetUri,
    "@scheme": scheme,
    "@authority": authority,
    "@path": path,
    // An absent query counts as an empty one.
    "@query": query || "?",
    "@request-target": `${path}${query}`,
  };
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

const unsupported = (identifier: string): RequestVerificationError =>
  new RequestVerificationError(
    "unsupported_component",
    `The signature covers ${identifier}, which this version cannot check. Update the SDK.`,
  );

function fieldValue({ text, parameters }: Item, name: string, message: Message): string | undefined {
  const field = message.field(name);
  if (parameters.size === 0 || field === undefined) return field;
  const key = stringOf(parameters.get("key"));
  if (key === undefined || parameters.size > 1) throw unsupported(text);
  return parseDictionary(name, field).get(key)?.text;
}

function componentLine(item: Item, message: Message): string {
  const name = stringOf(item.value);
  if (name === undefined || name !== name.toLowerCase()) throw unsupported(item.text);
  const isDerived = name.startsWith("@");
  const value = isDerived && item.parameters.size === 0 ? derivedValue(name, message) : undefined;
  if (isDerived && value === undefined) throw unsupported(item.text);
  const found = isDerived ? value : fieldValue(item, name, message);
  if (found === undefined)
    throw new RequestVerificationError(
      "missing_component",
      `The signature covers ${item.text}, which the request does not have. Pass all headers of the request as they came.`,
    );
  // Anything else could pass for another line of the base.
  if (!/^[\t\x20-\x7e]*$/.test(found)) throw malformed(`${item.text} has a character that a signature cannot cover.`);
  return `${item.text}: ${found}`;
}

/** The text that a signature signs (RFC 9421, section 2.5). `input` is the signature's member of `Signature-Input`. */
export function signatureBase(message: Message, input: Member): string {
  const items = input.items ?? [];
  const names = items.map(({ text }) => text);
  if (new Set(names).size < names.length) throw malformed("The signature covers a component twice.");
  return [...items.map((item) => componentLine(item, message)), `"@signature-params": ${input.text}`].join("\n");
}
