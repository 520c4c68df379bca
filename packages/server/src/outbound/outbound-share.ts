import { actingOrganisation } from "../fairness/acting-organisation.ts";
import { type GiveBack, type Share, ShareRefusal } from "../fairness/shares.ts";

/** The organisation has too many calls under way, or makes too many. Nothing was sent, and a later try may succeed. */
export class OutboundBusyError extends Error {
  override readonly name = "OutboundBusyError";
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs?: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The answer arrived, and was not read, because the organisation has used up its processor time. A later try may succeed. */
export class UnreadAnswerError extends OutboundBusyError {
  static from(error: unknown): unknown {
    return error instanceof ShareRefusal ? new UnreadAnswerError(error.message) : error;
  }
}

const nothing: GiveBack = () => undefined;

/**
 * Takes one of the calls that the acting organisation may have under way, and waits a moment for it. Calls of the service itself
 * are not counted.
 */
export async function acquireCall(share: Share | undefined, signal: AbortSignal | null | undefined): Promise<GiveBack> {
  const organisationId = actingOrganisation();
  if (!share || organisationId === undefined) return nothing;
  try {
    return await share.acquire(organisationId, signal);
  } catch (error) {
    throw error instanceof ShareRefusal ? new OutboundBusyError(error.message) : error;
  }
}
