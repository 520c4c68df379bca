import { hash } from "node:crypto";
import { afterUuids, createBoundTokens, fromUuids, uuidAt } from "../../auth/bound-token.ts";
import type { KeySource } from "../../platform/sealing.ts";

/** The approval and the delivery that a link is for. */
export interface ApprovalLink {
  readonly organisationId: string;
  readonly approvalId: string;
  /** The webhook that it was delivered to. */
  readonly webhookId: string;
  /** When the approval expires, and the link with it. */
  readonly expiresAt: Date;
  /** Which secret of the webhook signed the delivery, and where it went (`linkGeneration`). */
  readonly generation: Buffer;
}

export interface ApprovalLinks {
  /** The same link for the same values, so that every attempt of a delivery has the same body. */
  readonly tokenOf: (link: ApprovalLink) => string;
  /** Undefined for a token that this installation did not sign, or that has expired. */
  readonly open: (token: string, now: Date) => ApprovalLink | undefined;
}

const timeBytes = 6;
const generationBytes = 10;

/**
 * Links die with the secret of the webhook that delivered them, and with its address: to change either makes all of
 * them void. The secret stays apart.
 */
export const linkGeneration = (sealedSecret: Buffer, url: string): Buffer =>
  hash("sha256", Buffer.concat([sealedSecret, Buffer.from(url)]), "buffer").subarray(0, generationBytes);

function toBound({ organisationId, approvalId, webhookId, expiresAt, generation }: ApprovalLink): Buffer {
  const time = Buffer.alloc(timeBytes);
  time.writeUIntBE(expiresAt.getTime(), 0, timeBytes);
  return Buffer.concat([fromUuids(organisationId, approvalId, webhookId), time, generation]);
}

function fromBound(bound: Buffer): ApprovalLink {
  const rest = afterUuids(bound, 3);
  return {
    organisationId: uuidAt(bound, 0),
    approvalId: uuidAt(bound, 1),
    webhookId: uuidAt(bound, 2),
    expiresAt: new Date(rest.readUIntBE(0, timeBytes)),
    generation: rest.subarray(timeBytes),
  };
}

/** Links with which a person without a key decides. */
export function createApprovalLinks(key: KeySource): ApprovalLinks {
  const tokens = createBoundTokens(key);
  return {
    tokenOf: (link) => tokens.tokenOf(toBound(link)),
    open: (token, now) => {
      const bound = tokens.open(token);
      const link = bound && fromBound(bound);
      return link && link.expiresAt > now ? link : undefined;
    },
  };
}
