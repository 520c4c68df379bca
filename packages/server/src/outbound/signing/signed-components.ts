/**
 * The text that an HTTP message signature signs (RFC 9421, section 2.5). A component is a header field or a part of the request,
 * with its identifier as `Signature-Input` lists it.
 */
export interface Component {
  readonly identifier: string;
  readonly value: string;
}

export interface SignatureParameters {
  readonly created: number;
  readonly expires?: number;
  readonly nonce?: string;
  readonly keyid: string;
  readonly alg?: string;
  readonly tag?: string;
}

/** A string of a structured field (RFC 9651, section 4.1.6). */
export function serializeString(text: string): string {
  if (/[^\x20-\x7e]/.test(text)) throw new Error("A string of a structured field is printable ASCII.");
  return `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
}

const derivedValues = {
  "@method": (method: string) => method,
  "@target-uri": (_: string, url: URL) => withoutFragment(url),
  "@authority": (_: string, url: URL) => url.host,
  "@path": (_: string, url: URL) => url.pathname,
  // An absent query counts as an empty one.
  "@query": (_: string, url: URL) => url.search || "?",
} as const;

function withoutFragment(url: URL): string {
  const bare = new URL(url);
  bare.hash = "";
  return bare.href;
}

/** A part of the request itself. */
export const derivedComponent = (
  name: keyof typeof derivedValues,
  { method, url }: { readonly method: string; readonly url: URL },
): Component => ({ identifier: `"${name}"`, value: derivedValues[name](method, url) });

/** A header field, of which there may be several lines. */
export const fieldComponent = (name: string, ...lines: readonly string[]): Component => ({
  identifier: `"${name.toLowerCase()}"`,
  value: lines.map((line) => line.trim().replaceAll(/[ \t]*\r?\n[ \t]+/g, " ")).join(", "),
});

const serializeParameter = ([name, value]: readonly [string, string | number]): string =>
  `;${name}=${typeof value === "number" ? value : serializeString(value)}`;

/** The text of `Signature-Input` after the label, and the last line of the base. Parameters stay in their order. */
export const serializeInput = (components: readonly Component[], parameters: SignatureParameters): string =>
  `(${components.map(({ identifier }) => identifier).join(" ")})${Object.entries(parameters).map(serializeParameter).join("")}`;

export const signatureBase = (components: readonly Component[], input: string): string =>
  [...components.map(({ identifier, value }) => `${identifier}: ${value}`), `"@signature-params": ${input}`].join("\n");
