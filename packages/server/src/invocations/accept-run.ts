import { setTimeout as sleep } from "node:timers/promises";
import type { InvocationContext } from "@perch/contract";
import type { AgentRow } from "../agents/agent-queries.ts";
import type { Database } from "../db/database.ts";
import type { Caller } from "../handlers.ts";
import { bodyFingerprint, type IdempotentRequest, requestHash } from "../idempotency/repeatable-request.ts";
import { conflict } from "../platform/api-error.ts";
import type { TraceParent } from "../tracing/tracing.ts";
import type { ChosenVersion } from "./choose-version.ts";
import { claimInvocation } from "./claim-queries.ts";
import type { RunInput } from "./run.ts";

interface Invoke {
  readonly message: string;
  readonly context?: InvocationContext | undefined;
}

export const createRunInput = (
  id: string,
  acceptedAtMs: number,
  agent: AgentRow,
  chosen: ChosenVersion,
  { message, context = {} }: Invoke,
  streamed: boolean,
  trace: TraceParent | null,
): RunInput => ({
  id,
  acceptedAtMs,
  organisationId: agent.organisation_id,
  agentId: agent.id,
  ...chosen,
  message,
  userId: context.user_id ?? null,
  sessionId: context.session_id ?? null,
  streamed,
  trace,
});

/** A request needs less than this between acquiring its slot and writing its claim. */
const duplicateRequestWaitMs = 100;

interface RunSlot {
  /** Throws if the run may not start. */
  readonly acquire: () => Promise<void>;
  readonly release: () => Promise<void>;
}

/**
 * Returns the run of this Idempotency-Key. The claim is written before the engine is called, so a retry always finds the same run.
 * A run that may not start is refused before its claim is written: refusals are not replayed.
 */
export async function claimRun(
  db: Database,
  { keyId }: Caller,
  run: RunInput,
  request: IdempotentRequest,
  slot: RunSlot,
): Promise<{ id: string; replayed: boolean }> {
  const fingerprint = bodyFingerprint(request);
  const hash = requestHash(request);
  const proposed = { keyId, fingerprint, invocationId: run.id };
  const findOrClaim = (mode: "find" | "claim") =>
    claimInvocation(db.unscoped, run.organisationId, hash, proposed, mode);
  let claim = await findOrClaim("find");
  if (!claim) {
    const refusal = await slot.acquire().catch((error: unknown) => ({ error }));
    // The last slot may have gone to a duplicate of this request sent at the same time: then join its run instead of refusing.
    if (refusal) claim = await sleep(duplicateRequestWaitMs).then(() => findOrClaim("find"));
    if (refusal && !claim) throw refusal.error;
  }
  if (!claim) {
    claim = (await findOrClaim("claim")) ?? proposed;
    // A concurrent request with the same key claimed first.
    if (claim.invocationId !== run.id) await slot.release();
  }
  if (claim.keyId !== keyId) throw conflict("This Idempotency-Key was used with another API key. Choose a new one.");
  if (!claim.fingerprint.equals(fingerprint)) {
    throw conflict("This Idempotency-Key was used with another body. Choose a new one, or send the same body.");
  }
  return { id: claim.invocationId, replayed: claim.invocationId !== run.id };
}

const preferences = (prefer: string | undefined): string[] =>
  (prefer ?? "").split(",").map((item) => item.trim().toLowerCase());

/** The preference that led to an answer in the background, if one did. */
export const appliedPreference = (prefer: string | undefined): string | undefined =>
  preferences(prefer).find((item) => item === "respond-async" || /^wait=\d{1,4}$/.test(item));

/** How long to wait for the answer: as long as the run may take, unless `Prefer` (RFC 7240) says otherwise. */
export function preferredWaitMs(prefer: string | undefined, timeoutSeconds: number): number {
  const maxWaitMs = (timeoutSeconds + 5) * 1000;
  const applied = appliedPreference(prefer);
  if (applied === undefined) return maxWaitMs;
  return applied === "respond-async" ? 0 : Math.min(Number(applied.slice("wait=".length)) * 1000, maxWaitMs);
}
