import { setTimeout as sleep } from "node:timers/promises";
import type { InvocationContext } from "@perch/contract";
import type { AgentRow } from "../agents/agent-queries.ts";
import type { Database } from "../db/database.ts";
import type { Caller } from "../handlers.ts";
import { bodyFingerprint, type RepeatableRequest, requestHash } from "../idempotency/repeatable-request.ts";
import { conflict } from "../platform/api-error.ts";
import type { TraceParent } from "../tracing/tracing.ts";
import type { ChosenVersion } from "./choose-version.ts";
import { claimInvocation } from "./claim-queries.ts";
import type { RunInput } from "./run.ts";

interface Invoke {
  readonly message: string;
  readonly context?: InvocationContext | undefined;
}

export const newRun = (
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

/** Between taking a place and writing the claim a request needs less than this. */
const twinMs = 100;

interface Place {
  /** Throws where the run may not start. */
  readonly take: () => Promise<void>;
  readonly giveBack: () => Promise<void>;
}

/**
 * The run this Idempotency-Key stands for: written before the engine is asked, so a retry always finds the same one.
 * A run that may not start is refused before its claim is written: refusals are not kept.
 */
export async function claimRun(
  db: Database,
  { keyId }: Caller,
  run: RunInput,
  request: RepeatableRequest,
  place: Place,
): Promise<{ id: string; replayed: boolean }> {
  const fingerprint = bodyFingerprint(request);
  const hash = requestHash(request);
  const proposed = { keyId, fingerprint, invocationId: run.id };
  const claimed = (how: "look" | "claim") => claimInvocation(db.unscoped, run.organisationId, hash, proposed, how);
  let claim = await claimed("look");
  if (!claim) {
    const refusal = await place.take().catch((error: unknown) => ({ error }));
    // The last place may have gone to this same request, sent twice at once: then it joins, and is not refused.
    if (refusal) claim = await sleep(twinMs).then(() => claimed("look"));
    if (refusal && !claim) throw refusal.error;
  }
  if (!claim) {
    claim = (await claimed("claim")) ?? proposed;
    // Somebody with the same key was quicker.
    if (claim.invocationId !== run.id) await place.giveBack();
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
  const longestMs = (timeoutSeconds + 5) * 1000;
  const applied = appliedPreference(prefer);
  if (applied === undefined) return longestMs;
  return applied === "respond-async" ? 0 : Math.min(Number(applied.slice("wait=".length)) * 1000, longestMs);
}
