import { createPublicKey, hash, verify } from "node:crypto";

/**
 * An independent verifier of HTTP message signatures, written from RFC 9421, RFC 9530 and the web-bot-auth draft. It shares no
 * code with the server.
 */
export interface ReceivedRequest {
  readonly method: string;
  /** As the receiver knows its own address: origin, path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface Jwk {
  readonly kty: string;
  readonly crv: string;
  readonly kid: string;
  readonly x: string;
}

export interface VerifiedSignature {
  readonly components: readonly string[];
  readonly created: number;
  readonly expires: number;
  readonly nonce: string;
  readonly keyid: string;
}

const member = /^([a-z*][a-z0-9_.*-]*)=(\((?:"[^"]*"(?:;[a-z]+(?:="[^"]*")?)*(?: |(?=\))))*\)(.*))$/;

const headerOf = ({ headers }: Pick<ReceivedRequest, "headers">, name: string): string => {
  const value = headers[name];
  if (typeof value !== "string") throw new Error(`The request has no ${name}.`);
  return value.trim();
};

function componentValue(request: ReceivedRequest, identifier: string): string {
  const [, name = "", parameters = ""] = /^"([^"]+)"(.*)$/.exec(identifier) ?? [];
  const url = new URL(request.url);
  if (name === "@method") return request.method;
  if (name === "@target-uri") return request.url;
  if (name === "@authority") return url.host;
  if (name === "@path") return url.pathname;
  if (name === "@query") return url.search || "?";
  const key = /^;key="([^"]+)"$/.exec(parameters)?.[1];
  const field = headerOf(request, name);
  if (key === undefined) return field;
  const prefix = `${key}=`;
  if (!field.startsWith(prefix)) throw new Error(`${name} has no member ${key}.`);
  return field.slice(prefix.length);
}

const parameterIn = (parameters: string, name: string): string => {
  const found = new RegExp(`;${name}=(?:"([^"]*)"|(\\d+))`).exec(parameters);
  if (!found) throw new Error(`The signature has no ${name}.`);
  return found[1] ?? found[2] ?? "";
};

export function verifyJwkSignature(jwk: Jwk, base: string, signature: string): boolean {
  const key = createPublicKey({ key: { kty: jwk.kty, crv: jwk.crv, x: jwk.x }, format: "jwk" });
  return verify(null, Buffer.from(base), key, Buffer.from(signature, "base64"));
}

/** Throws unless the request is signed by one of these keys, for exactly this method, address and body. */
export function verifySignature(request: ReceivedRequest, keys: readonly Jwk[]): VerifiedSignature {
  const [, label = "", input = "", parameters = ""] = member.exec(headerOf(request, "signature-input")) ?? [];
  if (label === "") throw new Error("Signature-Input cannot be read.");
  const list = input.slice(1, input.indexOf(")"));
  const components = list === "" ? [] : list.split(" ");
  const digest = `sha-256=:${hash("sha256", request.body, "base64")}:`;
  if (headerOf(request, "content-digest") !== digest) throw new Error("The body is another one.");
  const keyid = parameterIn(parameters, "keyid");
  const jwk = keys.find(({ kid }) => kid === keyid);
  if (!jwk) throw new Error(`The key ${keyid} is unknown.`);
  if (hash("sha256", `{"crv":"Ed25519","kty":"OKP","x":"${jwk.x}"}`, "base64url") !== keyid)
    throw new Error(`The key ${keyid} has another thumbprint.`);
  if (parameterIn(parameters, "tag") !== "web-bot-auth") throw new Error("The signature is for something else.");
  const base = [
    ...components.map((identifier) => `${identifier}: ${componentValue(request, identifier)}`),
    `"@signature-params": ${input}`,
  ].join("\n");
  const [, signature = ""] = new RegExp(`^${label}=:([^:]+):$`).exec(headerOf(request, "signature")) ?? [];
  if (!verifyJwkSignature(jwk, base, signature)) throw new Error("The signature does not fit.");
  return {
    components,
    created: Number(parameterIn(parameters, "created")),
    expires: Number(parameterIn(parameters, "expires")),
    nonce: parameterIn(parameters, "nonce"),
    keyid,
  };
}
