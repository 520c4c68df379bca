import { storableText } from "../platform/storable-text.ts";
import type { Arguments } from "./call-arguments.ts";
import type { HttpTarget } from "./tool-set.ts";

/** No request can be built from these arguments. The message is for the model. */
export class InvalidArgumentsError extends Error {}

/** As the URL parser writes `{name}` in a path. */
const placeholder = /%7B([\w$.-]+)%7D/gi;
const dotSegment = /^(\.|%2e){1,2}$/i;

/** Encoded, a value stays in its segment. Dots are refused: URL parsers and proxies climb on them, encoded or not. */
function encodePathSegment(name: string, args: Arguments): string {
  const value = Object.hasOwn(args, name) ? args[name] : undefined;
  // Cleaned before the check: removing characters must not join two dots.
  const text = ["string", "number", "boolean"].includes(typeof value) ? storableText(String(value)) : "";
  if (text === "")
    throw new InvalidArgumentsError(
      `The argument ${name} is part of the tool's address: give a string or a number that is not empty.`,
    );
  if (text.split(/[/\\]/).some((part) => dotSegment.test(part)))
    throw new InvalidArgumentsError(`The argument ${name} is part of the tool's address and may not hold "..".`);
  return encodeURIComponent(text);
}

const toQueryValue = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

/** Where and what to send: path first, then query (GET, DELETE) or JSON body. Throws `InvalidArgumentsError`. */
export function buildRequest({ method, url: template }: HttpTarget, args: Arguments): { url: URL; body?: string } {
  const url = new URL(template);
  const inPath = new Set<string>();
  url.pathname = url.pathname.replaceAll(placeholder, (_, name: string) => {
    inPath.add(name);
    return encodePathSegment(name, args);
  });

  const rest = Object.entries(args).filter(([name, value]) => !inPath.has(name) && value !== undefined);
  if (method !== "GET" && method !== "DELETE") return { url, body: JSON.stringify(Object.fromEntries(rest)) };
  // The model must not override parameters that the tenant put into the URL.
  const fixed = new Set(url.searchParams.keys());
  for (const [name, value] of rest) if (!fixed.has(name)) url.searchParams.append(name, toQueryValue(value));
  return { url };
}
