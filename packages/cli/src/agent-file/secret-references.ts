import { Problem } from "../problem.ts";
import { type Fields, isObject } from "./fields.ts";

/** One place of a definition that refers to a secret. */
export interface SecretReference {
  readonly name: string;
  /** `tools.0.headers.Authorization`. */
  readonly path: string;
  /** The address to which the secret would be sent. */
  readonly url: string;
  /** The address is a guess, because only the authorization server knows its token endpoint. */
  readonly isGuessed: boolean;
}

const names = (text: string): string[] =>
  [...text.matchAll(/\{\{secret\.([a-z][a-z0-9_]{0,62})\}\}/g)].map(([, name = ""]) => name);

type Template = Omit<SecretReference, "name"> & { readonly value: unknown };

/** The credentials of a tool's account. */
function clientSecretOf({ connection, url }: Fields, path: string): Template[] {
  if (!isObject(connection) || connection.client_secret === undefined) return [];
  const { client_secret: value, issuer = url } = connection;
  return [{ path: `${path}.connection.client_secret`, url: String(issuer), isGuessed: true, value }];
}

/** The headers and query parameters of tools and of the runtime, and the client secrets of tools. */
function templatesOf({ tools, runtime }: Fields): Template[] {
  const called = (Array.isArray(tools) ? tools : []).map((tool: unknown, index) => [tool, `tools.${index}`] as const);
  return [...called, [runtime, "runtime"] as const].flatMap(([caller, path]) => {
    if (!isObject(caller)) return [];
    const sent = ["headers", "query"].flatMap((field) => {
      const entries = Object.entries(isObject(caller[field]) ? caller[field] : {});
      const url = String(caller.url);
      return entries.map(([key, value]) => ({ path: `${path}.${field}.${key}`, url, isGuessed: false, value }));
    });
    return [...sent, ...clientSecretOf(caller, path)];
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
  templatesOf(fields).flatMap(({ value, ...place }) => names(String(value)).map((name) => ({ name, ...place })));

/** `api.github.com` stands for `https://api.github.com`. Undefined if the text is not an address. */
export function originOf(hostOrUrl: string): string | undefined {
  const text = hostOrUrl.includes("://") ? hostOrUrl : `https://${hostOrUrl}`;
  return URL.canParse(text) ? new URL(text).origin : undefined;
}

/** How `hosts` of a secret name the origin of an address. */
export function hostOf(url: string): string {
  const origin = originOf(url) ?? url;
  return origin.startsWith("https://") ? origin.slice("https://".length) : origin;
}
