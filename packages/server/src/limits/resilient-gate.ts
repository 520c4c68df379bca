import type { Logger } from "../platform/logger.ts";
import type { Gate, GateDecision } from "./gate.ts";
import type { ValkeyGate } from "./valkey-gate.ts";

interface ResilientGateDeps {
  readonly shared: ValkeyGate;
  readonly local: Gate;
  readonly logger: Logger;
  readonly now: () => number;
}

const retryAfterMs = 1000;
/** A request does without a slow Valkey; a change waits longer, because other nodes would serve the old state after its answer. */
const changeTries = 4;

/** Uses Valkey's gate, and this process's own while Valkey is unavailable. Callers see no error; each transition is logged once. */
export function createResilientGate({ shared, local, logger, now }: ResilientGateDeps): Gate {
  let isDown = false;
  let retryAtMs = 0;
  // Changes made while Valkey was down did not reach its epochs, so each recovery invalidates what was cached before.
  let recoveries = 0;

  const markDown = (error: unknown): void => {
    retryAtMs = now() + retryAfterMs;
    if (isDown) return;
    isDown = true;
    logger.warn({ err: error }, "Valkey unavailable, limits are per process");
  };

  const markUp = (): void => {
    if (!isDown) return;
    isDown = false;
    recoveries += 1;
    logger.info("Valkey available again, limits are shared");
  };

  const shouldCallShared = (): boolean => {
    if (shared.isConnected()) return !isDown || now() >= retryAtMs;
    markDown(new Error("not connected"));
    // A new connection may be used at once.
    retryAtMs = 0;
    return false;
  };

  return {
    ready: shared.ready,
    pass: async (owner, buckets): Promise<GateDecision> => {
      if (!shouldCallShared()) return local.pass(owner, buckets);
      try {
        const decision = await shared.pass(owner, buckets);
        markUp();
        return { ...decision, epoch: { ...decision.epoch, value: `${recoveries} ${decision.epoch.value}` } };
      } catch (error) {
        markDown(error);
        return local.pass(owner, buckets);
      }
    },
    replaceEpoch: async (organisationId) => {
      await local.replaceEpoch(organisationId);
      for (let triesLeft = isDown ? 1 : changeTries; ; triesLeft--) {
        try {
          return await shared.replaceEpoch(organisationId);
        } catch (error) {
          if (triesLeft === 1 || !shared.isConnected()) throw error;
        }
      }
    },
    close: async () => {
      await shared.close();
    },
  };
}
