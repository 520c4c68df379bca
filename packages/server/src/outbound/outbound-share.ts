import { actingOrganisation } from "../platform/acting-organisation.ts";
import type { GiveBack, Share } from "../platform/shares.ts";

/** The organisation has too many calls under way. Nothing was sent, and a later try may succeed. */
export class OutboundBusyError extends Error {
  override readonly name = "OutboundBusyError";
}

const nothing: GiveBack = () => undefined;

/**
 * Takes one of the calls that the acting organisation may have under way, and waits a moment for it. Calls of the service itself
 * are not counted.
 */
export function acquireCall(share: Share | undefined, signal: AbortSignal | null | undefined): Promise<GiveBack> {
  const organisationId = actingOrganisation();
  if (!share || organisationId === undefined) return Promise.resolve(nothing);
  const taken = share.take(organisationId);
  if (taken) return Promise.resolve(taken);
  const { promise, resolve, reject } = Promise.withResolvers<GiveBack>();
  const onAbort = () => reject(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  const holdUntilGivenBack = (): Promise<void> => {
    // The caller has left meanwhile.
    if (signal?.aborted) return Promise.resolve();
    const held = Promise.withResolvers<void>();
    resolve(held.resolve);
    return held.promise;
  };
  void share
    .hold(organisationId, holdUntilGivenBack)
    .catch((error: Error) => reject(new OutboundBusyError(error.message)));
  return promise.finally(() => signal?.removeEventListener("abort", onAbort));
}
