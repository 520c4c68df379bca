import { createHmac, randomBytes } from "node:crypto";
import type { Sealer } from "../platform/secrets.ts";

export const newSecret = (): string => `whsec_${randomBytes(24).toString("base64")}`;

interface Place {
  readonly organisationId: string;
  readonly id: string;
}

const placeOf = ({ organisationId, id }: Place) => JSON.stringify([organisationId, id]);

export const sealSecret = (sealer: Sealer, secret: string, place: Place): Buffer => sealer.seal(secret, placeOf(place));

export const openSecret = (sealer: Sealer, sealed: Buffer, place: Place): string => sealer.open(sealed, placeOf(place));

interface Message {
  readonly id: string;
  readonly body: string;
  readonly atMs: number;
  readonly secret: string;
  /** The one before, while it still signs. */
  readonly previous: string | undefined;
}

/**
 * `X-Service-Signature` is keyed with the secret as it is shown: that is what a receiver has in hand. Standard Webhooks key theirs
 * with the bytes behind the prefix. There, both secrets sign in one header; `X-Service-Signature` holds one value, the new secret's.
 */
export function signatureHeaders({ id, body, atMs, secret, previous }: Message): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1000));
  const plain = (key: string) => createHmac("sha256", key).update(body).digest("hex");
  const standard = (key: string) => {
    const bytes = Buffer.from(key.replace(/^whsec_/, ""), "base64");
    return `v1,${createHmac("sha256", bytes).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  };
  const keys = previous === undefined ? [secret] : [secret, previous];
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": keys.map(standard).join(" "),
    "x-service-signature": plain(secret),
    ...(previous !== undefined && { "x-service-signature-previous": plain(previous) }),
  };
}
