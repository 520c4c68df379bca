import type { SigningKey } from "../../platform/signing-key.ts";
import { contentDigest, signMessage } from "./sign-message.ts";
import { fieldComponent } from "./signed-components.ts";

/** The path of the directory, at the installation's public address (draft-ietf-webbotauth-httpsig-protocol). */
export const directoryPath = "/.well-known/http-message-signatures-directory";
export const directoryMediaType = "application/http-message-signatures-directory+json";

/** How long receivers may keep the directory. A new key is listed for longer than that before it signs. */
export const directoryMaxAgeSeconds = 300;

const toSeconds = (ms: number) => Math.floor(ms / 1000);

const toJwk = ({ keyId, publicKey, signsFromMs, retiresAtMs }: SigningKey) => ({
  kty: "OKP",
  crv: "Ed25519",
  kid: keyId,
  x: publicKey,
  use: "sig",
  nbf: toSeconds(signsFromMs),
  ...(retiresAtMs === null ? {} : { exp: toSeconds(retiresAtMs) }),
});

export interface KeyDirectory {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Lists of keys are passed on from one party to another: a signature ends with this. */
const proofValidSeconds = 24 * 3600;

/**
 * The public keys as a JWK Set. With a public address, each key also signs the answer for that address only. A request
 * under another name gets no proof for it, so that another site cannot present these keys as its own.
 */
export function buildKeyDirectory(
  keys: readonly SigningKey[],
  publicUrl: string | undefined,
  nowMs: number,
): KeyDirectory {
  const body = JSON.stringify({ keys: keys.map(toJwk) });
  const digest = contentDigest(body);
  const headers = {
    "content-type": directoryMediaType,
    "cache-control": `public, max-age=${directoryMaxAgeSeconds}`,
    "content-digest": digest,
  };
  if (publicUrl === undefined) return { body, headers };
  const created = toSeconds(nowMs);
  const authority = { identifier: '"@authority";req', value: new URL(publicUrl).host };
  const signatures = keys.map((key, i) =>
    signMessage(key, `key${i}`, [authority, fieldComponent("content-digest", digest)], {
      created,
      expires: created + proofValidSeconds,
      keyid: key.keyId,
      alg: "ed25519",
      tag: "http-message-signatures-directory",
    }),
  );
  return {
    body,
    headers: {
      ...headers,
      "signature-input": signatures.map(({ input }) => input).join(", "),
      signature: signatures.map(({ signature }) => signature).join(", "),
    },
  };
}
