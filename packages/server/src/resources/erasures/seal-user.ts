import type { ErasureKey } from "../../engine/messages.ts";
import type { Digest, Sealer } from "../../platform/sealing.ts";

const associatedDataFor = ({ organisationId, id }: ErasureKey): string => JSON.stringify([organisationId, id]);

export const sealUser = (sealer: Sealer, userId: string, erasure: ErasureKey): Buffer =>
  sealer.seal(userId, associatedDataFor(erasure));

export const openUser = (sealer: Sealer, sealed: Buffer, erasure: ErasureKey): string =>
  sealer.open(sealed, associatedDataFor(erasure));

/** Tells whether two things are of the same user of an organisation, and not of which. */
export const digestUser = (digest: Digest, organisationId: string, userId: string): Buffer =>
  digest(JSON.stringify([organisationId, userId]));

/**
 * The same for answers that show a run of the user. They count by when the run was accepted, and not by when it was
 * shown.
 */
export const digestUserOfRun = (digest: Digest, organisationId: string, userId: string): Buffer =>
  digest(JSON.stringify([organisationId, userId, "run"]));
