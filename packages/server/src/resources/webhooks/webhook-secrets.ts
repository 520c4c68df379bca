import { createHmac, randomBytes } from "node:crypto";
import type { Sealer } from "../../platform/sealing.ts";

export const generateSecret = (): string => `whsec_${randomBytes(24).toString("base64")}`;

interface WebhookKey {
  readonly organisationId: string;
  readonly id: string;
}

const associatedData = ({ organisationId, id }: WebhookKey) => JSON.stringify([organisationId, id]);

export const sealSecret = (sealer: Sealer, secret: string, webhook: WebhookKey): Buffer =>
  sealer.seal(secret, associatedData(webhook));

export const openSecret = (sealer: Sealer, sealed: Buffer, webhook: WebhookKey): string =>
  sealer.open(sealed, associatedData(webhook));

interface Message {
  readonly id: string;
  readonly body: string;
  readonly atMs: number;
  readonly secret: string;
  /** The previous secret, while it still signs after a rotation. */
  readonly previous: string | undefined;
}

/**
 * `X-Service-Signature` is keyed with the secret as it is shown, prefix included. Standard Webhooks uses the decoded bytes after the
 * prefix, and puts the signatures of both secrets into one header; `X-Service-Signature` holds the new secret's only.
 */
export function signatureHeaders({ id, body, atMs, secret, previous }: Message): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1000));
  const hexSignature = (key: string) => createHmac("sha256", key).update(body).digest("hex");
  const standardSignature = (key: string) => {
    const bytes = Buffer.from(key.replace(/^whsec_/, ""), "base64");
    return `v1,${createHmac("sha256", bytes).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  };
  const keys = previous === undefined ? [secret] : [secret, previous];
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": keys.map(standardSignature).join(" "),
    "x-service-signature": hexSignature(secret),
    ...(previous !== undefined && { "x-service-signature-previous": hexSignature(previous) }),
  };
}
