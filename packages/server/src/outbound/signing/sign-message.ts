import { hash, sign } from "node:crypto";
import type { SigningKey } from "../../platform/signing-key.ts";
import { type Component, type SignatureParameters, serializeInput, signatureBase } from "./signed-components.ts";

/** `Content-Digest` (RFC 9530). An empty body has one too. */
export const contentDigest = (body: string | Uint8Array): string => `sha-256=:${hash("sha256", body, "base64")}:`;

interface MessageSignature {
  /** Members of the dictionaries `Signature-Input` and `Signature`. */
  readonly input: string;
  readonly signature: string;
}

/** Signs components under a label, with Ed25519 (RFC 9421, section 3.1). */
export function signMessage(
  { privateKey }: Pick<SigningKey, "privateKey">,
  label: string,
  components: readonly Component[],
  parameters: SignatureParameters,
): MessageSignature {
  const input = serializeInput(components, parameters);
  const signature = sign(null, Buffer.from(signatureBase(components, input)), privateKey).toString("base64");
  return { input: `${label}=${input}`, signature: `${label}=:${signature}:` };
}
