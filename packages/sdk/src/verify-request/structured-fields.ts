import { RequestVerificationError } from "../errors.ts";

/**
 * Dictionaries of structured fields (RFC 9651), as far as message signatures use them. It is stricter than the RFC if
 * that matters only to an attacker: a key that comes twice, a number with leading zeros, or base64 with stray bits is
 * refused. So every value has one spelling, and a change of the signed text is noticed.
 */

/** By name, each value as it is spelled. */
export type Parameters = ReadonlyMap<string, string>;

export interface Item {
  /** With its parameters, as a signature base spells it. */
  readonly text: string;
  readonly value: string;
  readonly parameters: Parameters;
}

export interface Member extends Item {
  /** Set if the member is an inner list. */
  readonly items: readonly Item[] | undefined;
}

const key = /[a-z*][a-z0-9_.*-]*/y;
const bareItem = new RegExp(
  [
    /"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"/, // string
    /:(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?:/, // bytes
    /-?(?:0|[1-9][0-9]{0,11})\.(?:0|[0-9]{0,2}[1-9])/, // decimal
    /0|-?[1-9][0-9]{0,14}/, // integer
    /\?[01]/, // boolean
    /[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*/, // token
  ]
    .map(({ source }) => source)
    .join("|"),
  "y",
);

interface Reader {
  /** The text at this position, if it has this form. */
  readonly take: (pattern: RegExp) => string | undefined;
  /** The same, if nothing else is allowed here. */
  readonly need: (pattern: RegExp) => string;
  readonly isAtEnd: () => boolean;
}

function createReader(name: string, text: string): Reader {
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  const need = (pattern: RegExp): string => {
    const found = take(pattern);
    if (found !== undefined) return found;
    const position = `at its character ${at + 1}`;
    throw malformed(`The header ${name} cannot be read ${position}. Pass all headers of the request as they came.`);
  };
  return { take, need, isAtEnd: () => at === text.length };
}

export const malformed = (message: string): RequestVerificationError =>
  new RequestVerificationError("malformed", message);

function setOnce<T>(name: string, map: Map<string, T>, entry: string, value: T): void {
  if (map.has(entry)) throw malformed(`The header ${name} has ${entry} twice. A request has one signature of Perch.`);
  map.set(entry, value);
}

function readParameters(name: string, { take, need }: Reader): Parameters {
  const parameters = new Map<string, string>();
  while (take(/;/y) !== undefined) {
    take(/ +/y);
    const parameter = need(key);
    setOnce(name, parameters, parameter, take(/=/y) === undefined ? "?1" : need(bareItem));
  }
  return parameters;
}

const serializeParameters = (parameters: Parameters): string =>
  [...parameters].map(([name, value]) => (value === "?1" ? `;${name}` : `;${name}=${value}`)).join("");

function toItem(value: string, parameters: Parameters): Item {
  return { text: `${value}${serializeParameters(parameters)}`, value, parameters };
}

function readInnerList(name: string, reader: Reader): readonly Item[] {
  const items: Item[] = [];
  for (;;) {
    const spaces = reader.take(/ +/y);
    if (reader.take(/\)/y) !== undefined) return items;
    if (items.length > 0 && spaces === undefined) reader.need(/ /y);
    items.push(toItem(reader.need(bareItem), readParameters(name, reader)));
  }
}

function readMember(name: string, reader: Reader): Member {
  // A key without a value means true.
  if (reader.take(/=/y) === undefined) return { ...toItem("?1", readParameters(name, reader)), items: undefined };
  if (reader.take(/\(/y) === undefined)
    return { ...toItem(reader.need(bareItem), readParameters(name, reader)), items: undefined };
  const items = readInnerList(name, reader);
  const value = `(${items.map(({ text }) => text).join(" ")})`;
  return { ...toItem(value, readParameters(name, reader)), items };
}

/** The members of a header that is a dictionary. `name` is for the error. */
export function parseDictionary(name: string, text: string): ReadonlyMap<string, Member> {
  const members = new Map<string, Member>();
  const reader = createReader(name, text);
  const { take, need, isAtEnd } = reader;
  take(/ +/y);
  while (!isAtEnd()) {
    const member = need(key);
    setOnce(name, members, member, readMember(name, reader));
    take(/[ \t]+/y);
    if (isAtEnd()) break;
    need(/,/y);
    take(/[ \t]+/y);
    // Nothing may follow a comma but another member.
    if (isAtEnd()) need(key);
  }
  return members;
}

/** The text of a string; undefined if the value is something else. */
export const stringOf = (value: string | undefined): string | undefined =>
  value?.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(["\\])/g, "$1") : undefined;

export const integerOf = (value: string | undefined): number | undefined =>
  value !== undefined && /^-?[0-9]+$/.test(value) ? Number(value) : undefined;

/** The base64 of bytes; undefined if the value is something else. */
export const base64In = (value: string | undefined): string | undefined =>
  value?.startsWith(":") ? value.slice(1, -1) : undefined;
