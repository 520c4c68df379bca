import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";

/** Separate keys for separate purposes, all from one. */
export const deriveKey = (from: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync("sha256", from, Buffer.alloc(0), `perch ${purpose}`, 32));

/** Thrown at start where no configured master key is the right one, with words for the operator. */
export class MasterKeyError extends Error {}

/** A key that is there once the data keys were read. */
export type KeySource = () => Buffer;

export type Digest = (secret: string) => Buffer;

/** A keyed digest: a stolen database alone does not let anybody test guesses. */
export const createDigest =
  (key: KeySource): Digest =>
  (secret) =>
    createHmac("sha256", key()).update(secret).digest();

/** `place` binds a sealed text to where it is stored: moved to another row, it does not open. */
export interface Sealer {
  readonly seal: (text: string, place: string) => Buffer;
  readonly open: (sealed: Buffer, place: string) => string;
}

const algorithm = "aes-256-gcm";
const nonceLength = 12;
const tagLength = 16;

/** AES-256-GCM: nonce, tag, then the cipher text. */
export function sealBytes(key: Buffer, bytes: Buffer, place: string): Buffer {
  const nonce = randomBytes(nonceLength);
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(place));
  const sealed = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

export function openBytes(key: Buffer, sealed: Buffer, place: string): Buffer {
  const nonce = sealed.subarray(0, nonceLength);
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagLength }).setAAD(Buffer.from(place));
  decipher.setAuthTag(sealed.subarray(nonceLength, nonceLength + tagLength));
  return Buffer.concat([decipher.update(sealed.subarray(nonceLength + tagLength)), decipher.final()]);
}

export const createSealer = (key: KeySource): Sealer => ({
  seal: (text, place) => sealBytes(key(), Buffer.from(text), place),
  open: (sealed, place) => openBytes(key(), sealed, place).toString(),
});
