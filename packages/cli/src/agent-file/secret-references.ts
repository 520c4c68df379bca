import { Problem } from "../problem.ts";
import { type Fields, isObject } from "./fields.ts";

/** One place of a definition that refers to a secret. */
export interface SecretReference {
  readonly name: string;
  /** `tools.0.headers.Authorization`. */
  readonly path: string;
  /** Where the secret would be sent. */
  readonly url: string;
}

const names = (text: string): string[] =>
  [...text.matchAll(/\{\{secret\.([a-z][a-z0-9_]{0,62})\}\}/g)].map(([, name = ""]) => name);

interface Template {
  readonly path: string;
  readonly url: string;
  readonly value: unknown;
}

/** The headers and query parameters of tools and of the runtime. */
function templatesOf({ tools, runtime }: Fields): Template[] {
  const called = (Array.isArray(tools) ? tools : []).map((tool: unknown, index) => [tool, `tools.${index}`] as const);
  return [...called, [runtime, "runtime"] as const].flatMap(([caller, path]) => {
    if (!isObject(caller)) return [];
    return ["headers", "query"].flatMap((field) => {
      const entries = Object.entries(isObject(caller[field]) ? caller[field] : {});
      return entries.map(([key, value]) => ({ path: `${path}.${field}.${key}`, url: String(caller.url), value }));
    });
  });
}

/** YAML takes a text that begins with braces for a map, unless it has quotes. */
export function checkTemplates(fields: Fields, locationOf: (path: string) => string): void {
  const wrong = templatesOf(fields).find(({ value }) => typeof value !== "string");
  if (wrong)
    throw new Problem(`${locationOf(wrong.path)}: ${wrong.path} is not text.`, 'Put it in quotes: "{{secret.name}}"');
}

/** Every reference in the tools and the runtime of a definition. */
export const secretReferencesOf = (fields: Fields): SecretReference[] =>
  templatesOf(fields).flatMap(({ path, url, value }) => names(String(value)).map((name) => ({ name, path, url })));

/** `api.github.com` stands for `https://api.github.com`. Undefined for what is not an address. */
export function originOf(hostOrUrl: string): string | undefined {
  const text = hostOrUrl.includes("://") ? hostOrUrl : `https://${hostOrUrl}`;
  return URL.canParse(text) ? new URL(text).origin : undefined;
}

/** How `hosts` of a secret name the origin of an address. */
export function hostOf(url: string): string {
  const origin = originOf(url) ?? url;
  return origin.startsWith("https://") ? origin.slice("https://".length) : origin;
}
