import { createHmac, hash, timingSafeEqual } from "node:crypto";
import type { KeySource } from "../platform/secrets.ts";

/** What a link is for. */
export interface ApprovalLink {
  readonly organisationId: string;
  readonly approvalId: string;
  /** Where it was delivered to. */
  readonly webhookId: string;
  /** The approval's: later, the link is no link. */
  readonly expiresAt: Date;
  /** Which secret of the webhook signed the delivery (`linkGeneration`). */
  readonly generation: Buffer;
}

export interface ApprovalLinks {
  /** The same link for the same values, so that every attempt of a delivery has the same body. */
  readonly tokenOf: (link: ApprovalLink) => string;
  /** Undefined for anything that we did not sign, and for what has expired. */
  readonly open: (token: string, now: Date) => ApprovalLink | undefined;
}

const idBytes = 16;
const timeBytes = 6;
const generationBytes = 10;
const macBytes = 32;
const boundBytes = 3 * idBytes + timeBytes + generationBytes;

/** 96 bytes are 128 letters with no bit to spare: there is one way to write a token. */
const tokenPattern = /^[A-Za-z0-9_-]{128}$/;

/** Links die with the secret of the webhook that delivered them: to rotate it makes all of them void, and the secret stays apart. */
export const linkGeneration = (sealedSecret: Buffer): Buffer =>
  hash("sha256", sealedSecret, "buffer").subarray(0, generationBytes);

const fromUuid = (uuid: string): Buffer => Buffer.from(uuid.replaceAll("-", ""), "hex");
const toUuid = (bytes: Buffer): string =>
  bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");

function toBound({ organisationId, approvalId, webhookId, expiresAt, generation }: ApprovalLink): Buffer {
  const time = Buffer.alloc(timeBytes);
  time.writeUIntBE(expiresAt.getTime(), 0, timeBytes);
  return Buffer.concat([...[organisationId, approvalId, webhookId].map(fromUuid), time, generation]);
}

function fromBound(bound: Buffer): ApprovalLink {
  const idAt = (index: number) => toUuid(bound.subarray(index * idBytes, (index + 1) * idBytes));
  return {
    organisationId: idAt(0),
    approvalId: idAt(1),
    webhookId: idAt(2),
    expiresAt: new Date(bound.readUIntBE(3 * idBytes, timeBytes)),
    generation: bound.subarray(3 * idBytes + timeBytes),
  };
}

/**
 * Links with which somebody without a key decides. A token is what it binds and its HMAC-SHA-256, so a forged one is refused without
 * asking the database: no answer to it can tell what exists.
 */
export function createApprovalLinks(key: KeySource): ApprovalLinks {
  const macOf = (bound: Buffer): Buffer => createHmac("sha256", key()).update(bound).digest();
  return {
    tokenOf: (link) => {
      const bound = toBound(link);
      return Buffer.concat([bound, macOf(bound)]).toString("base64url");
    },
    open: (token, now) => {
      if (!tokenPattern.test(token)) return undefined;
      const bytes = Buffer.from(token, "base64url");
      const bound = bytes.subarray(0, boundBytes);
      if (!timingSafeEqual(macOf(bound), bytes.subarray(boundBytes, boundBytes + macBytes))) return undefined;
      const link = fromBound(bound);
      return link.expiresAt > now ? link : undefined;
    },
  };
}
