import type { Logger } from "../platform/logger.ts";
import type { Gate, Passage } from "./gate.ts";
import type { ValkeyGate } from "./valkey-gate.ts";

interface ResilientGateDeps {
  readonly shared: ValkeyGate;
  readonly local: Gate;
  readonly logger: Logger;
  readonly now: () => number;
}

const retryAfterMs = 1000;

/** Valkey's gate while Valkey answers, this process's own while it does not. Nobody sees an error; the log tells once each way. */
export function createResilientGate({ shared, local, logger, now }: ResilientGateDeps): Gate {
  let away = false;
  let askAgainAt = 0;
  // Changes made while Valkey was away did not reach its epochs: after each return, what was remembered before is void.
  let returns = 0;

  const lost = (error: unknown): void => {
    askAgainAt = now() + retryAfterMs;
    if (away) return;
    away = true;
    logger.warn({ err: error }, "Valkey does not answer: limits are kept by each process for itself until it returns");
  };

  const found = (): void => {
    if (!away) return;
    away = false;
    returns += 1;
    logger.info("Valkey answers again: limits are shared between processes");
  };

  const mayAsk = (): boolean => {
    if (shared.isConnected()) return !away || now() >= askAgainAt;
    lost(new Error("not connected"));
    // Once it is connected again there is nothing to wait for.
    askAgainAt = 0;
    return false;
  };

  return {
    ready: shared.ready,
    pass: async (owner, buckets): Promise<Passage> => {
      if (!mayAsk()) return local.pass(owner, buckets);
      try {
        const passage = await shared.pass(owner, buckets);
        found();
        return { ...passage, epoch: { ...passage.epoch, value: `${returns} ${passage.epoch.value}` } };
      } catch (error) {
        lost(error);
        return local.pass(owner, buckets);
      }
    },
    replaceEpoch: async (organisationId) => {
      await local.replaceEpoch(organisationId);
      await shared.replaceEpoch(organisationId);
    },
    close: async () => {
      await shared.close();
    },
  };
}
