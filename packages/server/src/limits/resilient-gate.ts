import type { Gate, GateDecision } from "./gate.ts";
import type { ValkeyGate } from "./valkey-gate.ts";
import type { ValkeyState } from "./valkey-state.ts";

interface ResilientGateDeps {
  readonly shared: ValkeyGate;
  readonly local: Gate;
  readonly state: ValkeyState;
}

/** A request does without a slow Valkey; a change waits longer, because other nodes would serve the old state after its answer. */
const changeTries = 4;

/** Uses Valkey's gate, and this process's own while Valkey is unavailable. Callers see no error. */
export function createResilientGate({ shared, local, state }: ResilientGateDeps): Gate {
  return {
    ready: shared.ready,
    pass: async (owner, buckets): Promise<GateDecision> => {
      if (!state.isUp()) return local.pass(owner, buckets);
      try {
        return await shared.pass(owner, buckets);
      } catch (error) {
        state.failed(error);
        return local.pass(owner, buckets);
      }
    },
    replaceEpoch: async (organisationId) => {
      await local.replaceEpoch(organisationId);
      for (let triesLeft = state.isUp() ? changeTries : 1; ; triesLeft--) {
        try {
          return await shared.replaceEpoch(organisationId);
        } catch (error) {
          if (triesLeft === 1 || !shared.isConnected()) throw error;
        }
      }
    },
    close: shared.close,
  };
}
