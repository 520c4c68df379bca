import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, type KeyObject } from "node:crypto";

/** A key of the installation that signs calls. */
export interface SigningKey {
  /** The JWK thumbprint of the public key (RFC 7638). */
  readonly keyId: string;
  /** The 32 bytes of the public key, in base64url: `x` of its JWK. */
  readonly publicKey: string;
  readonly privateKey: KeyObject;
  readonly signsFromMs: number;
  /** Null: no other key follows it yet. */
  readonly retiresAtMs: number | null;
}

type KeyPair = Pick<SigningKey, "keyId" | "publicKey" | "privateKey">;

/** The members that RFC 7638 and RFC 8037 name, in their order. */
const thumbprintOf = (x: string): string =>
  hash("sha256", JSON.stringify({ crv: "Ed25519", kty: "OKP", x }), "base64url");

function toKeyPair(privateKey: KeyObject): KeyPair {
  const { x = "" } = createPublicKey(privateKey).export({ format: "jwk" });
  return { keyId: thumbprintOf(x), publicKey: x, privateKey };
}

export const createKeyPair = (): KeyPair => toKeyPair(generateKeyPairSync("ed25519").privateKey);

/** Only for a sealer: the result must never be logged or stored as it is. */
export const exportPrivateKey = ({ privateKey }: KeyPair): string =>
  privateKey.export({ format: "der", type: "pkcs8" }).toString("base64");

/** The key that `exportPrivateKey` wrote. Throws if it is another than the one expected. */
export function importPrivateKey(exported: string, expectedKeyId: string): KeyPair {
  const pair = toKeyPair(createPrivateKey({ key: Buffer.from(exported, "base64"), format: "der", type: "pkcs8" }));
  if (pair.keyId !== expectedKeyId) throw new Error(`the signing key ${expectedKeyId} holds another key`);
  return pair;
}

/**
 * The key to sign with: the newest that is valid now. If no known key is valid, the nearest one is better than none:
 * the clock of a process may be behind the database's, and a process that lost the database knows no newer key.
 */
export function chooseSigningKey(keys: readonly SigningKey[], nowMs: number): SigningKey | undefined {
  const byAge = keys.toSorted((one, other) => other.signsFromMs - one.signsFromMs);
  const begun = byAge.filter(({ signsFromMs }) => signsFromMs <= nowMs);
  // Two rotations soon after each other: the one between them may begin last, and retire first.
  const inUse = begun.find(({ retiresAtMs }) => retiresAtMs === null || retiresAtMs > nowMs);
  return inUse ?? begun[0] ?? byAge.at(-1);
}
