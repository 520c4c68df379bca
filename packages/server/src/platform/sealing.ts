import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";

/** Derives a separate key for each purpose (HKDF). */
export const deriveKey = (from: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync("sha256", from, Buffer.alloc(0), `perch ${purpose}`, 32));

/** Thrown at start if no configured master key fits. The message is for the operator. */
export class MasterKeyError extends Error {}

/** Returns a key; throws before the data keys are loaded. */
export type KeySource = () => Buffer;

export type Digest = (secret: string) => Buffer;

/** A keyed digest: with only a stolen database, guesses cannot be tested. */
export const createDigest =
  (key: KeySource): Digest =>
  (secret) =>
    createHmac("sha256", key()).update(secret).digest();

/** `associatedData` binds a ciphertext to its row: copied to another row, it cannot be decrypted. */
export interface Sealer {
  readonly seal: (text: string, associatedData: string) => Buffer;
  readonly open: (sealed: Buffer, associatedData: string) => string;
}

const algorithm = "aes-256-gcm";
const nonceLength = 12;
const tagLength = 16;

/** AES-256-GCM: nonce, tag, then the cipher text. */
export function sealBytes(key: Buffer, bytes: Buffer, associatedData: string): Buffer {
  const nonce = randomBytes(nonceLength);
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(associatedData));
  const sealed = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

export function openBytes(key: Buffer, sealed: Buffer, associatedData: string): Buffer {
  const nonce = sealed.subarray(0, nonceLength);
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagLength }).setAAD(
    Buffer.from(associatedData),
  );
  decipher.setAuthTag(sealed.subarray(nonceLength, nonceLength + tagLength));
  return Buffer.concat([decipher.update(sealed.subarray(nonceLength + tagLength)), decipher.final()]);
}

export const createSealer = (key: KeySource): Sealer => ({
  seal: (text, associatedData) => sealBytes(key(), Buffer.from(text), associatedData),
  open: (sealed, associatedData) => openBytes(key(), sealed, associatedData).toString(),
});

/** The same for bytes. */
export interface BytesSealer {
  readonly seal: (bytes: Buffer, associatedData: string) => Buffer;
  readonly open: (sealed: Buffer, associatedData: string) => Buffer;
}

export const createBytesSealer = (key: KeySource): BytesSealer => ({
  seal: (bytes, associatedData) => sealBytes(key(), bytes, associatedData),
  open: (sealed, associatedData) => openBytes(key(), sealed, associatedData),
});

/** Declares a data key and its use. The purpose is part of the encrypted data: never change one. */
export const sealerFor = (purpose: string) => ({ purpose, create: createSealer });
export const digestFor = (purpose: string) => ({ purpose, create: createDigest });
export const keyFor = (purpose: string) => ({ purpose, create: (key: KeySource): KeySource => key });
