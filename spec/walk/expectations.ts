import { isDeepStrictEqual } from "node:util";
import type { Answer } from "./http-client.ts";

const show = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
};

export function holds(condition: boolean, problem: string): asserts condition {
  if (!condition) throw new Error(problem);
}

export function equal(actual: unknown, expected: unknown, what = "value"): void {
  holds(isDeepStrictEqual(actual, expected), `${what}: expected ${show(expected)}, got ${show(actual)}`);
}

/** A kind of value: its name, and how to recognise it. */
type Kind = readonly [name: string, isOne: (value: unknown) => boolean];

export const text: Kind = ["a string", (value) => typeof value === "string"];
export const number: Kind = ["a number", (value) => typeof value === "number"];
export const integer: Kind = ["an integer", (value) => Number.isInteger(value)];
export const flag: Kind = ["a boolean", (value) => typeof value === "boolean"];
export const array: Kind = ["an array", Array.isArray];
export const object: Kind = [
  "an object",
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
];
export const utcTime: Kind = [
  "an ISO 8601 UTC timestamp",
  (value) =>
    typeof value === "string" &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value) &&
    !Number.isNaN(Date.parse(value)),
];

export function isA(value: unknown, [name, isOne]: Kind, what: string): void {
  holds(isOne(value), `${what}: expected ${name}, got ${show(value)}`);
}

export const arrayOf = (kind: Kind): Kind => [
  `an array, each ${kind[0]}`,
  (value) => Array.isArray(value) && value.every(kind[1]),
];

/** The object has exactly these fields, each of its kind. */
export function hasExactly(value: unknown, fields: Readonly<Record<string, Kind>>, what: string): void {
  isA(value, object, what);
  const found = value as Record<string, unknown>;
  equal(Object.keys(found).sort(), Object.keys(fields).sort(), `fields of ${what}`);
  for (const [name, kind] of Object.entries(fields)) isA(found[name], kind, `${what}.${name}`);
}

export function answers(answer: Answer, status: number, what = "the request"): Answer["body"] {
  holds(answer.status === status, `${what}: expected ${status}, got ${answer.status} ${answer.text.slice(0, 300)}`);
  return answer.body;
}

/** A refusal with this status and code, in the error body of the specification. */
export function refuses(answer: Answer, status: number, code: string, what = "the request"): Answer["body"]["error"] {
  const body = answers(answer, status, what);
  equal(Object.keys(body).sort(), ["error", "success"], "fields of the error body");
  equal(body.success, false, "success");
  equal(body.error?.code, code, `${what}: code`);
  isA(body.error.message, text, "error.message");
  return body.error;
}

/** The data of a single-object or action response, in its envelope. */
export function single(answer: Answer, status: number, what = "the request"): Answer["body"] {
  const body = answers(answer, status, what);
  equal(Object.keys(body).sort(), ["data", "success"], `${what}: fields of the envelope`);
  equal(body.success, true, `${what}: success`);
  isA(body.data, object, `${what}: data`);
  return body.data;
}

export async function eventually<T>(
  look: () => Promise<T | undefined> | T | undefined,
  what: string,
  seconds = 20,
): Promise<T> {
  const deadline = Date.now() + seconds * 1000;
  while (Date.now() < deadline) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Not seen after ${seconds} s: ${what}`);
}
