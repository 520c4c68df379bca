import {
  type Credential,
  type KeyDirectory,
  presentedCredential,
  requireActiveKey,
  toCaller,
} from "../auth/authenticate.ts";
import type { Caller } from "../auth/caller.ts";
import type { KeyUsage } from "../auth/key-usage.ts";
import { keyStatus, type PresentedKey } from "../auth/presented-key.ts";
import type { Epoch } from "../cache/epoch.ts";
import type { Bucket, Gate, GateDecision } from "../limits/gate.ts";
import type { BucketState, Rate } from "../limits/gcra.ts";
import { addressOwner, agentBucket, agentRate, organisationBucket } from "../limits/rates.ts";
import { ApiError } from "../platform/api-error.ts";
import type { AgentDirectory } from "../resources/agents/agent-directory.ts";
import type { AgentRow } from "../resources/agents/agent-queries.ts";
import { storedDefinition } from "../resources/agents/to-agent.ts";

interface AdmitDeps {
  readonly gate: Gate;
  readonly keys: KeyDirectory;
  readonly agents: AgentDirectory;
  readonly keyUsage: KeyUsage;
  readonly unauthenticatedLimit: Bucket;
  readonly now: () => Date;
}

export interface AdmissionRequest {
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
  /** Requires a valid key, within the rate limits of its organisation and of the agent in the path. */
  readonly admit: (request: AdmissionRequest) => Promise<Admitted>;
  /** Counts a request without a valid key against the limit of its address. */
  readonly admitUnauthenticated: (address: string) => Promise<void>;
}

function throwIfRefused({ allowed, waitMs }: GateDecision, limitOwner: string): void {
  if (allowed) return;
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  throw new ApiError(
    "rate_limited",
    `The rate limit of ${limitOwner} is used up. Try again in ${retryAfterSeconds} s.`,
    {
      retryAfterSeconds,
    },
  );
}

/** The headers the specification gives, and beside them those of the IETF draft (RateLimit header fields for HTTP). */
function rateLimitHeaders({ capacity, intervalMs }: Rate, { remaining, fullAtMs }: BucketState, nowMs: number) {
  const secondsToFull = Math.max(0, Math.ceil((fullAtMs - nowMs) / 1000));
  return {
    "x-ratelimit-limit": capacity,
    "x-ratelimit-remaining": remaining,
    "x-ratelimit-reset": Math.ceil(fullAtMs / 1000),
    ratelimit: `"organisation";r=${remaining};t=${secondsToFull}`,
    "ratelimit-policy": `"organisation";q=${capacity};w=${Math.ceil((capacity * intervalMs) / 1000)}`,
  };
}

const rateOf = (agent: AgentRow | undefined): Rate | undefined => agent && agentRate(storedDefinition(agent).security);
const sameRate = (a: Rate | undefined, b: Rate | undefined) =>
  a?.capacity === b?.capacity && a?.intervalMs === b?.intervalMs;

export function createAdmission({ gate, keys, agents, keyUsage, unauthenticatedLimit, now }: AdmitDeps): Admission {
  const admitUnauthenticated = async (address: string): Promise<void> =>
    throwIfRefused(
      await gate.pass(addressOwner(address), [unauthenticatedLimit]),
      "your address, for requests without a valid key,",
    );

  const credentialOf = async ({ authorization, address }: AdmissionRequest): Promise<Credential> => {
    try {
      return presentedCredential(authorization);
    } catch (error) {
      await admitUnauthenticated(address);
      throw error;
    }
  };

  /** A key that this node last saw active is not looked up before its organisation's limit is checked. */
  const identify = async (request: AdmissionRequest): Promise<{ credential: Credential; key: PresentedKey }> => {
    const credential = await credentialOf(request);
    const known = keys.lastKnown(credential);
    if (known && keyStatus(known, now()) === "active") return { credential, key: known };
    await admitUnauthenticated(request.address);
    const key = await keys.find(credential);
    requireActiveKey(key, now());
    return { credential, key };
  };

  const checkBuckets = async (
    request: AdmissionRequest,
    key: PresentedKey,
    buckets: readonly Bucket[],
  ): Promise<GateDecision> => {
    const decision = await gate.pass(key.organisation_id, buckets);
    const [organisationLimit] = buckets;
    const [state] = decision.buckets;
    if (organisationLimit && state)
      request.setHeaders(rateLimitHeaders(organisationLimit.rate, state, now().getTime()));
    return decision;
  };

  const checkOrganisationLimit = async (
    request: AdmissionRequest,
    key: PresentedKey,
    organisationLimit: Bucket,
  ): Promise<Epoch> => {
    const decision = await checkBuckets(request, key, [organisationLimit]);
    throwIfRefused(decision, "this organisation");
    return decision.epoch;
  };

  /** Checks both limits in one call, with the agent as it was last cached, then confirms that the agent's limit has not changed. */
  const checkAgentLimit = async (
    request: AdmissionRequest,
    key: PresentedKey,
    organisationLimit: Bucket,
    ref: string,
  ): Promise<Epoch> => {
    const scope = { organisationId: key.organisation_id, onlyAgentId: key.agent_id };
    const reachable = (agent: AgentRow | undefined) =>
      key.agent_id === null || agent?.id === key.agent_id ? agent : undefined;
    if (!agents.lastKnown(key.organisation_id, ref)) {
      // Peeks, so that a refusal by the agent's limit below does not count against the organisation's.
      await agents.find(
        scope,
        ref,
        await checkOrganisationLimit(request, key, { ...organisationLimit, peekOnly: true }),
      );
    }
    const cachedAgent = reachable(agents.lastKnown(key.organisation_id, ref)?.value);
    const rate = rateOf(cachedAgent);
    const decision = await checkBuckets(request, key, [
      organisationLimit,
      ...(cachedAgent && rate ? [agentBucket(cachedAgent.id, rate)] : []),
    ]);
    const agent = await agents.find(scope, ref, decision.epoch);
    const currentRate = rateOf(agent);
    if (decision.allowed || sameRate(rate, currentRate))
      throwIfRefused(decision, decision.refusedBy === 1 ? "this agent" : "this organisation");
    else throwIfRefused(await checkBuckets(request, key, [organisationLimit]), "this organisation");
    if (agent && currentRate && !sameRate(rate, currentRate)) {
      throwIfRefused(await gate.pass(key.organisation_id, [agentBucket(agent.id, currentRate)]), "this agent");
    }
    return decision.epoch;
  };

  return {
    admitUnauthenticated,
    admit: async (request) => {
      const { credential, key: cachedKey } = await identify(request);
      const organisationLimit = organisationBucket(toCaller(cachedKey).organisation.tier);
      const epoch =
        request.agentRef === undefined
          ? await checkOrganisationLimit(request, cachedKey, organisationLimit)
          : await checkAgentLimit(request, cachedKey, organisationLimit, request.agentRef);
      const key = await keys.find(credential, epoch);
      const at = now();
      requireActiveKey(key, at);
      keyUsage.record(key.id, at);
      return { caller: toCaller(key), epoch };
    },
  };
}
