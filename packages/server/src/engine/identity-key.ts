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

const prefix = "publickeyv1_";

/** The 32 bytes of a public key in PERCH_RESTATE_IDENTITY_KEYS. */
export function identityKeyBytes(text: string): Buffer {
  let number = 0n;
  for (const letter of text.slice(prefix.length)) number = number * 58n + BigInt(alphabet.indexOf(letter));
  return Buffer.from(number.toString(16).padStart(64, "0"), "hex");
}

/** The public key for PERCH_RESTATE_IDENTITY_KEYS, of the Ed25519 key (PEM) with which the engine signs its requests. */
export function identityKeyOf(privateKeyPem: string): string {
  const { x } = createPublicKey(privateKeyPem).export({ format: "jwk" });
  return `${prefix}${base58(Buffer.from(x ?? "", "base64url"))}`;
}
