import type { AgentDirectory } from "../agents/agent-directory.ts";
import type { AgentRow } from "../agents/agent-queries.ts";
import { storedDefinition } from "../agents/to-agent.ts";
import type { Bucket, Epoch, Gate, Passage } from "../gate/gate.ts";
import type { Rate } from "../gate/gcra.ts";
import { addressOwner, agentBucket, agentRate, organisationBucket } from "../gate/rates.ts";
import type { Caller } from "../handlers.ts";
import type { PresentedKey } from "../keys/key-queries.ts";
import { keyStatus } from "../keys/key-rules.ts";
import type { KeyUsage } from "../keys/key-usage.ts";
import { ApiError } from "../platform/api-error.ts";
import { type Credential, type KeyDirectory, presentedCredential, refuseEnded, toCaller } from "./authenticate.ts";
import { rateLimitHeaders } from "./rate-limit-headers.ts";

interface AdmitDeps {
  readonly gate: Gate;
  readonly keys: KeyDirectory;
  readonly agents: AgentDirectory;
  readonly keyUsage: KeyUsage;
  readonly strangers: Bucket;
  readonly now: () => Date;
}

export interface Visitor {
  readonly authorization: string | undefined;
  readonly address: string;
  /** The agent in the path, if the path names one. */
  readonly agentRef: string | undefined;
  readonly setHeaders: (headers: Record<string, string | number>) => void;
}

export interface Admitted {
  readonly caller: Caller;
  readonly epoch: Epoch;
}

export interface Admission {
  /** Who may come in: a valid key, within the limits of its organisation and of the agent it asks for. */
  readonly admit: (visitor: Visitor) => Promise<Admitted>;
  /** One more request from an address that has shown no valid key. */
  readonly admitStranger: (address: string) => Promise<void>;
}

function refuse({ allowed, waitMs }: Passage, whose: string): void {
  if (allowed) return;
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  throw new ApiError("rate_limited", `The rate limit of ${whose} is used up. Try again in ${retryAfterSeconds} s.`, {
    retryAfterSeconds,
  });
}

const rateOf = (agent: AgentRow | undefined): Rate | undefined => agent && agentRate(storedDefinition(agent).security);
const sameRate = (a: Rate | undefined, b: Rate | undefined) =>
  a?.capacity === b?.capacity && a?.intervalMs === b?.intervalMs;

export function createAdmission({ gate, keys, agents, keyUsage, strangers, now }: AdmitDeps): Admission {
  const admitStranger = async (address: string): Promise<void> =>
    refuse(await gate.pass(addressOwner(address), [strangers]), "your address, for requests without a valid key,");

  const credentialOf = async ({ authorization, address }: Visitor): Promise<Credential> => {
    try {
      return presentedCredential(authorization);
    } catch (refusal) {
      await admitStranger(address);
      throw refusal;
    }
  };

  /** A key this node has seen alive needs no look-up to know whose limit it counts against. */
  const identify = async (visitor: Visitor): Promise<{ credential: Credential; key: PresentedKey }> => {
    const credential = await credentialOf(visitor);
    const known = keys.lastKnown(credential);
    if (known && keyStatus(known, now()) === "active") return { credential, key: known };
    await admitStranger(visitor.address);
    const key = await keys.find(credential);
    refuseEnded(key, now());
    return { credential, key };
  };

  const ask = async (visitor: Visitor, key: PresentedKey, buckets: readonly Bucket[]): Promise<Passage> => {
    const passage = await gate.pass(key.organisation_id, buckets);
    const [own] = buckets;
    const [state] = passage.buckets;
    if (own && state) visitor.setHeaders(rateLimitHeaders(own.rate, state, now().getTime()));
    return passage;
  };

  const passAlone = async (visitor: Visitor, key: PresentedKey, own: Bucket): Promise<Epoch> => {
    const passage = await ask(visitor, key, [own]);
    refuse(passage, "this organisation");
    return passage.epoch;
  };

  /** The agent's own limit counts in the same look at the gate, by what was last known of it; then that is confirmed. */
  const passWithAgent = async (visitor: Visitor, key: PresentedKey, own: Bucket, ref: string): Promise<Epoch> => {
    const scope = { organisationId: key.organisation_id, agentId: key.agent_id };
    const reachable = (agent: AgentRow | undefined) =>
      key.agent_id === null || agent?.id === key.agent_id ? agent : undefined;
    if (!agents.lastKnown(key.organisation_id, ref)) {
      // Looking takes nothing: if the agent's limit refuses below, the organisation has not paid for it.
      await agents.find(scope, ref, await passAlone(visitor, key, { ...own, lookOnly: true }));
    }
    const believed = reachable(agents.lastKnown(key.organisation_id, ref)?.is);
    const rate = rateOf(believed);
    const passage = await ask(visitor, key, [own, ...(believed && rate ? [agentBucket(believed.id, rate)] : [])]);
    const agent = await agents.find(scope, ref, passage.epoch);
    const trueRate = rateOf(agent);
    if (passage.allowed || sameRate(rate, trueRate))
      refuse(passage, passage.refusedBy === 1 ? "this agent" : "this organisation");
    else refuse(await ask(visitor, key, [own]), "this organisation");
    if (agent && trueRate && !sameRate(rate, trueRate)) {
      refuse(await gate.pass(key.organisation_id, [agentBucket(agent.id, trueRate)]), "this agent");
    }
    return passage.epoch;
  };

  return {
    admitStranger,
    admit: async (visitor) => {
      const { credential, key: believed } = await identify(visitor);
      const own = organisationBucket(toCaller(believed).organisation.tier);
      const epoch =
        visitor.agentRef === undefined
          ? await passAlone(visitor, believed, own)
          : await passWithAgent(visitor, believed, own, visitor.agentRef);
      const key = await keys.find(credential, epoch);
      const at = now();
      refuseEnded(key, at);
      keyUsage.note(key.id, at);
      return { caller: toCaller(key), epoch };
    },
  };
}
