import { setTimeout as sleep } from "node:timers/promises";
import type { Caller } from "../../auth/caller.ts";
import type { Database } from "../../db/database.ts";
import type { RunInput } from "../../engine/messages.ts";
import { conflict } from "../../platform/api-error.ts";
import { bodyFingerprint, type IdempotentRequest, requestHash } from "../../resources/idempotent-request.ts";
import { claimInvocation } from "./claim-queries.ts";

/** A request needs less than this between acquiring its slot and writing its claim. */
const duplicateRequestWaitMs = 100;

export interface RunSlot {
  /** Throws if the run may not start. */
  readonly acquire: () => Promise<void>;
  readonly release: () => Promise<void>;
}

/**
 * Returns the id of the run that this Idempotency-Key stands for, which is an earlier run's if the request is a replay.
 * The claim is written before the engine is called, so a retry always finds the same run. A run that may not start is
 * refused before its claim is written: refusals are not replayed.
 */
export async function claimRun(
  db: Database,
  { credentialId, user }: Caller,
  run: RunInput,
  request: IdempotentRequest,
  slot: RunSlot,
): Promise<string> {
  const bodyAlone = bodyFingerprint(request);
  // The answer is for the user that asked. A claim without a user was made before claims had one, or before the agent asked for it.
  const fingerprint = user ? bodyFingerprint({ ...request, body: [request.body, user.id] }) : bodyAlone;
  const hash = requestHash(request);
  const proposed = { credentialId, fingerprint, invocationId: run.id };
  const findOrClaim = (mode: "find" | "claim") =>
    db.onBehalfOf(run.organisationId, (each) => claimInvocation(each, run.organisationId, hash, proposed, mode));
  let claim = await findOrClaim("find");
  if (!claim) {
    const refusal = await slot.acquire().catch((error: unknown) => ({ error }));
    // The last slot may have gone to a duplicate of this request sent at the same time: then join its run instead of refusing.
    if (refusal) claim = await sleep(duplicateRequestWaitMs).then(() => findOrClaim("find"));
    if (refusal && !claim) throw refusal.error;
  }
  if (!claim) {
    // If the claim committed nevertheless, a retry finds it, and takes a slot for its run.
    claim =
      (await findOrClaim("claim").catch(async (error: unknown) => {
        await slot.release();
        throw error;
      })) ?? proposed;
    // A concurrent request with the same key claimed first.
    if (claim.invocationId !== run.id) await slot.release();
  }
  if (claim.credentialId !== credentialId)
    throw conflict("This Idempotency-Key was used with another API key. Choose a new one.");
  if (!claim.fingerprint.equals(fingerprint) && !claim.fingerprint.equals(bodyAlone)) {
    throw conflict(
      user
        ? "This Idempotency-Key was used with another body or by another user. Choose a new one, or send the same."
        : "This Idempotency-Key was used with another body. Choose a new one, or send the same body.",
    );
  }
  return claim.invocationId;
}
