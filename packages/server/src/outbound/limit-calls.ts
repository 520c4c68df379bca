import { setTimeout as sleep } from "node:timers/promises";
import { actingOrganisation } from "../fairness/acting-organisation.ts";
import { OutboundBusyError } from "./outbound-share.ts";

/** Counts a call of an organisation to a host: how long it must wait, or why it is refused. */
export type TakeCall = (
  organisationId: string,
  host: string,
) => Promise<{ readonly waitMs: number } | { readonly refused: string; readonly retryAfterMs: number }>;

/** The same fetch at the rate of the acting organisation: a call beyond it waits for its turn, or is refused. */
export const limitCalls =
  (fetch: typeof globalThis.fetch, takeCall: TakeCall): typeof globalThis.fetch =>
  async (input, init) => {
    const organisationId = actingOrganisation();
    if (organisationId !== undefined) {
      const { host } = new URL(input instanceof Request ? input.url : input);
      const turn = await takeCall(organisationId, host);
      if ("refused" in turn) throw new OutboundBusyError(turn.refused, turn.retryAfterMs);
      const signal = init?.signal ?? undefined;
      if (turn.waitMs > 0) await sleep(turn.waitMs, undefined, { signal }).catch(() => signal?.throwIfAborted());
    }
    return fetch(input, init);
  };
