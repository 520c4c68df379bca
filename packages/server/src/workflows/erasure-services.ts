import * as restate from "@restatedev/restate-sdk";
import type { ErasureKey } from "../engine/messages.ts";
import { userErasures } from "../engine/services.ts";
import { retryTickUntilSuccess, serviceOptions } from "./retry-policies.ts";

export interface ErasureSteps {
  /** Null: it is done. */
  readonly erase: (erasure: ErasureKey) => Promise<{ readonly againAfterMs: number | null }>;
}

/** Longer work continues in another invocation, to keep journals short. */
const maxSteps = 100;

/** Also a wait is another invocation: it may last for as long as a run, and this release need not. */
function continueErasure(context: restate.Context, erasure: ErasureKey, delayMs: number): void {
  context.genericSend<ErasureKey>({
    service: userErasures,
    method: "erase",
    key: erasure.id,
    parameter: erasure,
    inputSerde: restate.serde.json as restate.Serde<ErasureKey>,
    delay: delayMs,
  });
}

async function erase(context: restate.ObjectContext, erasure: ErasureKey, steps: ErasureSteps): Promise<void> {
  for (let n = 1; n <= maxSteps; n++) {
    const { againAfterMs } = await context.run(`erase ${n}`, () => steps.erase(erasure), retryTickUntilSuccess);
    if (againAfterMs === null) return;
    if (againAfterMs > 0) return continueErasure(context, erasure, againAfterMs);
  }
  continueErasure(context, erasure, 0);
}

/** The key is the erasure: handed over twice, its work is still done by one worker at a time. */
export const erasureServices = (steps: ErasureSteps) =>
  [
    restate.object({
      name: userErasures,
      handlers: { erase: (context: restate.ObjectContext, erasure: ErasureKey) => erase(context, erasure, steps) },
      options: serviceOptions,
    }),
  ] as const;
