import { createHash, createPrivateKey, sign } from "node:crypto";
import vectors from "@perch/testkit/message-signatures/rfc-9421.json" with { type: "json" };

/** Signs requests as Perch does, with the test key of RFC 9421, and as it never would. */

export interface PrivateJwk {
  readonly kty: string;
  readonly crv: string;
  readonly x: string;
  readonly d: string;
}

export interface SignOptions {
  readonly method: string;
  /** The whole address. */
  readonly url: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly created: number;
  readonly nonce: string;
  /** The parameters of `Signature-Input` that differ from Perch's. Null leaves a parameter out. */
  readonly parameters?: Readonly<Record<string, string | number | null>>;
  /** The components, if they differ from those that Perch covers. */
  readonly components?: readonly string[];
  readonly label?: string;
  readonly key?: PrivateJwk;
}

export const publicKey = { kty: vectors.key.kty, crv: vectors.key.crv, x: vectors.key.x };

export const thumbprint = ({ crv, kty, x }: Omit<PrivateJwk, "d">): string =>
  createHash("sha256").update(JSON.stringify({ crv, kty, x })).digest("base64url");

export const digestOf = (body: string): string => `sha-256=:${createHash("sha256").update(body).digest("base64")}:`;

/** The value of a component. */
function componentValue(
  identifier: string,
  { method, url }: SignOptions,
  headers: Readonly<Record<string, string>>,
): string {
  if (identifier === '"@method"') return method;
  if (identifier === '"@target-uri"') return url;
  if (identifier === '"@authority"') return new URL(url).host;
  const [, name = "", key] = /^"([^"]+)"(?:;key="(\w+)")?$/.exec(identifier) ?? [];
  const value = headers[name] ?? "";
  return key === undefined ? value : value.slice(key.length + 1);
}

const serialize = ([name, value]: readonly [string, string | number | null]): string =>
  value === null ? "" : `;${name}=${typeof value === "number" ? value : `"${value}"`}`;

/** All headers of the signed request. */
export function signRequest(options: SignOptions): Record<string, string> {
  const { body, created, nonce, label = "perch", key = vectors.key } = options;
  const headers: Record<string, string> = { "content-digest": digestOf(body), ...options.headers };
  const components = options.components ?? [
    '"@method"',
    '"@target-uri"',
    '"content-digest"',
    ...["x-request-id", "perch-organisation", "perch-agent"]
      .filter((name) => headers[name] !== undefined)
      .map((name) => `"${name}"`),
    ...(headers["signature-agent"] === undefined ? [] : ['"signature-agent";key="perch"']),
  ];
  const parameters = {
    created,
    expires: created + 300,
    nonce,
    keyid: thumbprint(key),
    alg: "ed25519",
    tag: "web-bot-auth",
    ...options.parameters,
  };
  const input = `(${components.join(" ")})${Object.entries(parameters).map(serialize).join("")}`;
  const lines = components.map((identifier) => `${identifier}: ${componentValue(identifier, options, headers)}`);
  const base = [...lines, `"@signature-params": ${input}`].join("\n");
  const privateKey = createPrivateKey({ key: { ...key }, format: "jwk" });
  const signature = sign(null, Buffer.from(base), privateKey).toString("base64");
  return { ...headers, "signature-input": `${label}=${input}`, signature: `${label}=:${signature}:` };
}
