import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";

/** Separate keys for separate purposes, all from the master key. */
const derive = (masterKey: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync("sha256", masterKey, Buffer.alloc(0), `perch ${purpose}`, 32));

export type Digest = (secret: string) => Buffer;

/** A keyed digest: a stolen database alone does not let anybody test guesses. */
export const createDigest = (masterKey: Buffer, purpose: string): Digest => {
  const key = derive(masterKey, purpose);
  return (secret) => createHmac("sha256", key).update(secret).digest();
};

/** `place` binds a sealed text to where it is stored: moved to another row, it does not open. */
export interface Sealer {
  readonly seal: (text: string, place: string) => Buffer;
  readonly open: (sealed: Buffer, place: string) => string;
}

const algorithm = "aes-256-gcm";
const nonceLength = 12;
const tagLength = 16;

/** AES-256-GCM: nonce, tag, then the cipher text. */
export function createSealer(masterKey: Buffer, purpose: string): Sealer {
  const key = derive(masterKey, purpose);
  return {
    seal: (text, place) => {
      const nonce = randomBytes(nonceLength);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(place));
      const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
    },
    open: (sealed, place) => {
      const nonce = sealed.subarray(0, nonceLength);
      const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagLength }).setAAD(Buffer.from(place));
      decipher.setAuthTag(sealed.subarray(nonceLength, nonceLength + tagLength));
      return decipher.update(sealed.subarray(nonceLength + tagLength), undefined, "utf8") + decipher.final("utf8");
    },
  };
}
