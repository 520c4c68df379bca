import { base64Of, bytesOfBase64, utf8 } from "../bytes.ts";

/** A public key of Perch, as its directory lists it. */
export interface VerificationJwk {
  readonly kty: string;
  readonly crv?: string | undefined;
  readonly x?: string | undefined;
  /** From when it may sign, in seconds since 1970. */
  readonly nbf?: number | undefined;
  /** Until when it may sign, in seconds since 1970. */
  readonly exp?: number | undefined;
  readonly [other: string]: unknown;
}

export interface VerificationKey {
  readonly key: Awaited<ReturnType<typeof crypto.subtle.importKey>>;
  readonly notBefore: number;
  readonly expires: number;
}

const base64UrlOf = (bytes: Uint8Array): string =>
  base64Of(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** The thumbprint (RFC 7638), by which a signature names its key: whatever the list calls it, nothing else is that key. */
async function thumbprint(x: string): Promise<string> {
  const text = JSON.stringify({ crv: "Ed25519", kty: "OKP", x });
  return base64UrlOf(new Uint8Array(await crypto.subtle.digest("SHA-256", utf8(text))));
}

const isTime = (value: unknown): value is number | undefined => value === undefined || typeof value === "number";

/** The key with its thumbprint; undefined for a key of another kind, which a list may have too. */
export async function importKey(jwk: VerificationJwk): Promise<readonly [string, VerificationKey] | undefined> {
  const { kty, crv, x, nbf, exp } = jwk;
  if (kty !== "OKP" || crv !== "Ed25519" || typeof x !== "string" || !isTime(nbf) || !isTime(exp)) return undefined;
  const bytes = bytesOfBase64(x.replaceAll("-", "+").replaceAll("_", "/"));
  if (bytes?.length !== 32 || base64UrlOf(bytes) !== x) return undefined;
  const key = await crypto.subtle.importKey("raw", bytes, "Ed25519", false, ["verify"]);
  return [await thumbprint(x), { key, notBefore: nbf ?? 0, expires: exp ?? Number.POSITIVE_INFINITY }];
}

export async function importKeys(jwks: readonly VerificationJwk[]): Promise<ReadonlyMap<string, VerificationKey>> {
  const imported = await Promise.all(jwks.map(importKey));
  return new Map(imported.filter((entry) => entry !== undefined));
}
