import type { Sealer } from "../../platform/sealing.ts";

/** The owner of a sealed value. */
export interface ApprovalRef {
  readonly organisationId: string;
  readonly id: string;
}

/** The call as the model made it, and the parts that a person may change. */
export interface ApprovalCall {
  readonly arguments: unknown;
  /** JSON Schema of the arguments, or of the answer to a question. */
  readonly parameters: object;
  readonly question: string | null;
}

/** A person's additions to a decision. */
export interface ApprovalDecision {
  /** Instead of the model's. */
  readonly arguments?: unknown;
  readonly answer?: unknown;
  readonly reason?: string;
}

/** Names the column too, so that a model's text cannot open as a person's decision. */
const associatedDataFor = ({ organisationId, id }: ApprovalRef, column: "call" | "decision"): string =>
  JSON.stringify([organisationId, id, column]);

export const sealCall = (sealer: Sealer, call: ApprovalCall, approval: ApprovalRef): Buffer =>
  sealer.seal(JSON.stringify(call), associatedDataFor(approval, "call"));

export const openCall = (sealer: Sealer, sealed: Buffer, approval: ApprovalRef): ApprovalCall =>
  JSON.parse(sealer.open(sealed, associatedDataFor(approval, "call")));

export const sealDecision = (sealer: Sealer, decision: ApprovalDecision, approval: ApprovalRef): Buffer =>
  sealer.seal(JSON.stringify(decision), associatedDataFor(approval, "decision"));

/** Null is a decision to which nothing was added. */
export const openDecision = (sealer: Sealer, sealed: Buffer | null, approval: ApprovalRef): ApprovalDecision =>
  sealed === null ? {} : JSON.parse(sealer.open(sealed, associatedDataFor(approval, "decision")));
