import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";

const iterations = 4096;
/** Others would have to be normalised (SASLprep) exactly as PostgreSQL and every client do it. */
const printableAscii = /^[\x21-\x7e]{8,200}$/;

export const isPassword = (text: string): boolean => printableAscii.test(text);

/**
 * PostgreSQL's stored form of a password (RFC 5803). Because it is sent in place of the password, no statement or log
 * contains that.
 */
export function scramVerifier(password: string, salt: Buffer = randomBytes(16)): string {
  const salted = pbkdf2Sync(password, salt, iterations, 32, "sha256");
  const keyOf = (name: string) => createHmac("sha256", salted).update(name).digest();
  const storedKey = createHash("sha256").update(keyOf("Client Key")).digest("base64");
  const serverKey = keyOf("Server Key").toString("base64");
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${storedKey}:${serverKey}`;
}
