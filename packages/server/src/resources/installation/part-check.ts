import type { InstallationPart } from "@perch/contract";
import { healthChecks, type PartId } from "../../platform/health-checks.ts";
import { reasonOfFailedCall } from "../../platform/reason-of-failed-call.ts";
import { withinLimit } from "../../platform/within-limit.ts";

/** The findings about one part. */
export interface Checked<T> {
  readonly part: InstallationPart;
  /** Undefined if the part is silent. */
  readonly found: T | undefined;
}

interface PartToCheck<T> {
  readonly id: PartId;
  readonly address: string | null;
  readonly ask: () => Promise<T>;
  /** The advice although it answers; null if there is none. */
  readonly judge?: (found: T) => string | null;
  /** How long the first answer took, if there is more than one question. */
  readonly latencyMs?: (found: T) => number;
  readonly nowMs?: () => number;
}

const limitMs = 2000;

/** A connection whose other end has vanished stays without an answer for many minutes, while others to the same part work. */
const forgottenAfterMs = 30_000;

/**
 * Asks a part, and waits for two seconds at most. A question without an answer is not repeated for a while, so that
 * readers do not add to the work of a silent part or use up the connections to it.
 */
export function createPartCheck<T>({
  id,
  address,
  ask,
  judge,
  latencyMs,
  nowMs = () => performance.now(),
}: PartToCheck<T>): () => Promise<Checked<T>> {
  const name = healthChecks[id].forms.installation;
  let asking: { readonly answer: Promise<T>; readonly sinceMs: number } | undefined;
  const begin = (sinceMs: number) => {
    const begun = {
      sinceMs,
      answer: ask().finally(() => {
        if (asking === begun) asking = undefined;
      }),
    };
    return begun;
  };
  return async () => {
    const startedMs = nowMs();
    if (!asking || startedMs - asking.sinceMs >= forgottenAfterMs) asking = begin(startedMs);
    const { answer } = asking;
    try {
      const found = await withinLimit(limitMs, () => answer);
      const message = judge?.(found) ?? null;
      const status = message === null ? "ok" : "degraded";
      const tookMs = latencyMs?.(found) ?? nowMs() - startedMs;
      return { part: { name, address, status, latency_ms: Math.round(tookMs), message }, found };
    } catch (error) {
      const message = reasonOfFailedCall(error);
      return { part: { name, address, status: "silent", latency_ms: null, message }, found: undefined };
    }
  };
}

/** A part that this node has no address of. */
export const notConfigured = (id: PartId, message: string): InstallationPart => ({
  ...{ name: healthChecks[id].forms.installation, address: null, status: "not_configured", latency_ms: null, message },
});
