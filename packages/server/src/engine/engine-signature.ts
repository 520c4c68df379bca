import { createPublicKey, type KeyObject, verify } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { identityKeyBytes } from "./identity-key.ts";

/** Whether the engine signed a request to this path. */
export type IsSigned = (path: string, headers: IncomingHttpHeaders) => boolean;

const toPublicKey = (text: string): KeyObject =>
  createPublicKey({
    key: { kty: "OKP", crv: "Ed25519", x: identityKeyBytes(text).toString("base64url") },
    format: "jwk",
  });

const toJson = (part: string): Readonly<Record<string, unknown>> =>
  JSON.parse(Buffer.from(part, "base64url").toString("utf8"));

/**
 * Checks the engine's tokens, which name the path and live for a short time, for requests that the SDK does not see. It is no more
 * lenient than the SDK, which judges every request that this refuses. Without keys, every request is accepted, as by the SDK.
 */
export function createIsSigned(identityKeys: readonly string[]): IsSigned {
  const keys = new Map(identityKeys.map((text) => [text, toPublicKey(text)]));
  const isValid = (token: string, path: string): boolean => {
    const [head = "", claims = "", signature = "", ...others] = token.split(".");
    const { alg, kid } = toJson(head);
    const key = keys.get(String(kid));
    if (others.length > 0 || alg !== "EdDSA" || !key) return false;
    if (!verify(null, Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, "base64url"))) return false;
    const { aud, nbf, exp } = toJson(claims);
    const nowSeconds = Date.now() / 1000;
    return aud === path && typeof nbf === "number" && typeof exp === "number" && nbf <= nowSeconds && nowSeconds < exp;
  };
  return (path, headers) => {
    if (keys.size === 0) return true;
    const token = headers["x-restate-jwt-v1"];
    if (headers["x-restate-signature-scheme"] !== "v1" || typeof token !== "string") return false;
    try {
      return isValid(token, path);
    } catch {
      return false;
    }
  };
}
