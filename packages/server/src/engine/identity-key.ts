import { createPublicKey } from "node:crypto";

/** Bitcoin's alphabet: no 0, O, I or l. */
const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

function base58(bytes: Buffer): string {
  let number = BigInt(`0x${bytes.toString("hex")}`);
  let text = "";
  for (; number > 0n; number /= 58n) text = alphabet[Number(number % 58n)] + text;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return "1".repeat(zeros === -1 ? bytes.length : zeros) + text;
}

/** The public key for PERCH_RESTATE_IDENTITY_KEYS, of the Ed25519 key (PEM) with which the engine signs its requests. */
export function identityKeyOf(privateKeyPem: string): string {
  const { x } = createPublicKey(privateKeyPem).export({ format: "jwk" });
  return `publickeyv1_${base58(Buffer.from(x ?? "", "base64url"))}`;
}
