import { createHmac, hkdfSync } from "node:crypto";

/** Separate keys for separate purposes, all from the master key. */
const derive = (masterKey: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync("sha256", masterKey, Buffer.alloc(0), `perch ${purpose}`, 32));

export type Digest = (secret: string) => Buffer;

/** A keyed digest: a stolen database alone does not let anybody test guesses. */
export const createDigest = (masterKey: Buffer, purpose: string): Digest => {
  const key = derive(masterKey, purpose);
  return (secret) => createHmac("sha256", key).update(secret).digest();
};
