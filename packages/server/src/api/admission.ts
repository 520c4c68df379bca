import { type Tier, tierLimits } from "@perch/contract";
import {
  type Credential,
  type KeyDirectory,
  requireActiveKey,
  requireCredential,
  sentCredential,
  sessionCredential,
  toCaller,
} from "../auth/authenticate.ts";
import type { Caller, Scope } from "../auth/caller.ts";
import type { KeyUsage } from "../auth/key-usage.ts";
import { isActive, type PresentedKey } from "../auth/presented-key.ts";
import type { Epoch } from "../cache/epoch.ts";
import type { Bucket, Gate, GateDecision } from "../limits/gate.ts";
import type { BucketState, Rate } from "../limits/gcra.ts";
import {
  addressOwner,
  agentBucket,
  agentRate,
  consoleBucket,
  type LimitName,
  limitName,
  organisationBucket,
} from "../limits/rates.ts";
import { ApiError } from "../platform/api-error.ts";
import { toPublicId } from "../platform/ids.ts";
import type { AgentDirectory } from "../resources/agents/agent-directory.ts";
import type { AgentRow } from "../resources/agents/agent-queries.ts";
import { storedDefinition } from "../resources/agents/to-agent.ts";
import type { RecheckPerson } from "../resources/console-sessions/recheck-person.ts";

interface AdmitDeps {
  readonly gate: Gate;
  readonly keys: KeyDirectory;
  readonly agents: AgentDirectory;
  readonly keyUsage: KeyUsage;
  readonly unauthenticatedLimit: Bucket;
  readonly recheckPerson: RecheckPerson;
  readonly now: () => Date;
}

export interface AdmissionRequest {
  readonly authorization: string | undefined;
  /** The token of a session cookie, if there is one; throws if the request comes from another page than the console's. */
  readonly readSessionToken: () => string | undefined;
  readonly address: string;
  /** The agent in the path, if the path names one. */
  readonly agentRef: string | undefined;
  /** Whether the request only reads. */
  readonly isRead: boolean;
  /** Whether the request only ends this session, for which the session's owner need not be confirmed. */
  readonly isSignOutOf?: (sessionId: string) => boolean;
  readonly setHeaders: (headers: Record<string, string | number>) => void;
  /** Called with the error that `admit` throws, and with the caller, if the key was known. */
  readonly onRefused: (refusal: unknown, caller: Caller | undefined) => void;
}

export interface Admitted {
  /** To look the key up again while a stream is open. */
  readonly credential: Credential;
  readonly caller: Caller;
  readonly scope: Scope;
  readonly epoch: Epoch;
  /** The agent whose limit was checked, if the caller can see it. */
  readonly agent: AgentRow | undefined;
}

export interface Admission {
  /** Requires a valid key or session, within the rate limits of its organisation and of the agent in the path. */
  readonly admit: (request: AdmissionRequest) => Promise<Admitted>;
  /** For streams that stay open: the key and the agent as they are now. Throws if the key is not active any more. */
  readonly readmit: (admitted: Admitted) => Promise<Admitted>;
  /** Counts a request without a valid key against the limit of its address. */
  readonly admitUnauthenticated: (address: string) => Promise<void>;
}

const limitOwners: Record<LimitName, string> = {
  organisation: "this organisation",
  console: "this organisation's console",
  agent: "this agent (its `security.rateLimit`)",
};
const ownerOf = (bucket: Bucket): string => limitOwners[limitName(bucket)];

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
function rateLimitHeaders(
  name: LimitName,
  { capacity, intervalMs }: Rate,
  { remaining, fullAtMs }: BucketState,
  nowMs: number,
) {
  const secondsToFull = Math.max(0, Math.ceil((fullAtMs - nowMs) / 1000));
  return {
    "x-ratelimit-limit": capacity,
    "x-ratelimit-remaining": remaining,
    "x-ratelimit-reset": Math.ceil(fullAtMs / 1000),
    ratelimit: `"${name}";r=${remaining};t=${secondsToFull}`,
    "ratelimit-policy": `"${name}";q=${capacity};w=${Math.ceil((capacity * intervalMs) / 1000)}`,
  };
}

/**
 * A stream accepts a key that was read longer ago than a request does, so that under one epoch a heartbeat needs no
 * statement: a minute with Valkey. Without Valkey it is less than a heartbeat, because then no epoch reports the
 * changes of other nodes.
 */
const streamKeyAgeFactor = 6;

const tiers = Object.keys(tierLimits) as Tier[];
const forEachTier = (bucketOf: (tier: Tier) => Bucket) =>
  Object.fromEntries(tiers.map((tier) => [tier, bucketOf(tier)])) as Record<Tier, Bucket>;
const organisationBuckets = forEachTier(organisationBucket);
const consoleBuckets = forEachTier(consoleBucket);

/** For a sign-in, once the key's organisation is known: the same limit as for the key's other requests. */
export const createAdmitOrganisation =
  (gate: Pick<Gate, "pass">) =>
  async (organisationId: string, tier: Tier): Promise<void> =>
    throwIfRefused(await gate.pass(organisationId, [organisationBuckets[tier]]), limitOwners.organisation);

const scopeOf = (key: PresentedKey): Scope => ({ organisationId: key.organisation_id, onlyAgentId: key.agent_id });

/** The limits for a request: one of the organisation, and one of the agent in the path, if it has one. */
interface Limits {
  readonly ofOrganisation: Bucket;
  readonly rateOf: (agent: AgentRow | undefined) => Rate | undefined;
}

const rateOf = (agent: AgentRow | undefined): Rate | undefined => agent && agentRate(storedDefinition(agent).security);

/** Pages of the console poll by themselves. That must not use up the limit for callers of the agents. */
const limitsFor = (tier: Tier, isReadInConsole: boolean): Limits =>
  isReadInConsole
    ? { ofOrganisation: consoleBuckets[tier], rateOf: () => undefined }
    : { ofOrganisation: organisationBuckets[tier], rateOf };

const sameRate = (a: Rate | undefined, b: Rate | undefined) =>
  a?.capacity === b?.capacity && a?.intervalMs === b?.intervalMs;

interface IdentifiedKey {
  readonly credential: Credential;
  readonly key: PresentedKey;
}

/** The key of a request, once it is known, whether or not it is admitted. */
interface SentKey {
  key: PresentedKey | undefined;
}

interface CheckedLimits {
  readonly epoch: Epoch;
  readonly agent: AgentRow | undefined;
}

export function createAdmission({
  gate,
  keys,
  agents,
  keyUsage,
  unauthenticatedLimit,
  now,
  recheckPerson,
}: AdmitDeps): Admission {
  const admitUnauthenticated = async (address: string): Promise<void> =>
    throwIfRefused(
      await gate.pass(addressOwner(address), [unauthenticatedLimit]),
      "your address, for requests without a valid key,",
    );

  const orCount = async <T>(address: string, read: () => T): Promise<T> => {
    try {
      return read();
    } catch (error) {
      await admitUnauthenticated(address);
      throw error;
    }
  };

  /** A key counts before a cookie, which a browser sends by itself. */
  const readSession = async (request: AdmissionRequest): Promise<Credential | undefined> => {
    const token = await orCount(request.address, request.readSessionToken);
    return token === undefined ? undefined : sessionCredential(token);
  };

  /** A key that this node last saw active is not looked up before its organisation's limit is checked. */
  const identifyKnown = (credential: Credential | undefined): IdentifiedKey | undefined => {
    const key = credential && keys.lastKnown(credential);
    return key && isActive(key, now()) ? { credential, key } : undefined;
  };

  const identify = async (
    request: AdmissionRequest,
    session: Credential | undefined,
    sent: SentKey,
  ): Promise<IdentifiedKey> => {
    const credential = session ?? (await orCount(request.address, () => requireCredential(request.authorization)));
    await admitUnauthenticated(request.address);
    const key = await keys.find(credential);
    sent.key = key;
    requireActiveKey(key, now());
    return { credential, key };
  };

  /** Before the key is read under the current epoch, which a person's end or another role replaces. */
  const confirmPerson = (
    organisationId: string,
    session: { readonly id: string; readonly person: unknown } | null,
  ): Promise<void> | undefined =>
    session?.person ? recheckPerson({ organisationId, sessionId: session.id }) : undefined;

  /** The limit that refused, because its numbers show when to try again; otherwise the organisation's. */
  const showLimit = (request: AdmissionRequest, buckets: readonly Bucket[], decision: GateDecision): void => {
    const shown = decision.refusedBy ?? 0;
    const [bucket, state] = [buckets[shown], decision.buckets[shown]];
    if (!bucket || !state) return;
    request.setHeaders(rateLimitHeaders(limitName(bucket), bucket.rate, state, now().getTime()));
  };

  const checkOrganisationLimit = async (
    request: AdmissionRequest,
    key: PresentedKey,
    organisationLimit: Bucket,
  ): Promise<Epoch> => {
    const buckets = [organisationLimit];
    const decision = await gate.pass(key.organisation_id, buckets);
    showLimit(request, buckets, decision);
    throwIfRefused(decision, ownerOf(organisationLimit));
    return decision.epoch;
  };

  /** Checks both limits in one call, with the agent as it was last cached, then confirms that the agent's limit has not changed. */
  const checkAgentLimit = async (
    request: AdmissionRequest,
    key: PresentedKey,
    { ofOrganisation, rateOf }: Limits,
    ref: string,
  ): Promise<CheckedLimits> => {
    const scope = scopeOf(key);
    let lastKnown = agents.lastKnown(key.organisation_id, ref);
    if (!lastKnown) {
      // Peeks, so that a refusal by the agent's limit below does not count against the organisation's.
      await agents.find(scope, ref, await checkOrganisationLimit(request, key, { ...ofOrganisation, peekOnly: true }));
      lastKnown = agents.lastKnown(key.organisation_id, ref);
    }
    const isReachable = key.agent_id === null || lastKnown?.value?.id === key.agent_id;
    const cachedAgent = isReachable ? lastKnown?.value : undefined;
    const rate = rateOf(cachedAgent);
    const buckets = cachedAgent && rate ? [ofOrganisation, agentBucket(cachedAgent.id, rate)] : [ofOrganisation];
    const decision = await gate.pass(key.organisation_id, buckets);
    showLimit(request, buckets, decision);
    const found = agents.find(scope, ref, decision.epoch, lastKnown);
    const agent = found instanceof Promise ? await found : found;
    const currentRate = agent === cachedAgent ? rate : rateOf(agent);
    if (decision.allowed || sameRate(rate, currentRate))
      throwIfRefused(decision, ownerOf(buckets[decision.refusedBy ?? 0] ?? ofOrganisation));
    else await checkOrganisationLimit(request, key, ofOrganisation);
    if (agent && currentRate && !sameRate(rate, currentRate)) {
      const buckets = [agentBucket(agent.id, currentRate)];
      const current = await gate.pass(key.organisation_id, buckets);
      if (!current.allowed) showLimit(request, buckets, current);
      throwIfRefused(current, limitOwners.agent);
    }
    return { epoch: decision.epoch, agent };
  };

  const admit = async (request: AdmissionRequest): Promise<Admitted> => {
    const sent: SentKey = { key: undefined };
    try {
      const { authorization } = request;
      const session = authorization === undefined ? await readSession(request) : undefined;
      const { credential, key: cachedKey } =
        identifyKnown(session ?? sentCredential(authorization)) ?? (await identify(request, session, sent));
      const isSignOut = cachedKey.session !== null && request.isSignOutOf?.(cachedKey.session.id);
      const confirming = isSignOut ? undefined : confirmPerson(cachedKey.organisation_id, cachedKey.session);
      if (confirming) await confirming;
      const { tier } = toCaller(cachedKey).organisation;
      const limits = limitsFor(tier, cachedKey.session !== null && request.isRead);
      const { epoch, agent } =
        request.agentRef === undefined
          ? { epoch: await checkOrganisationLimit(request, cachedKey, limits.ofOrganisation), agent: undefined }
          : await checkAgentLimit(request, cachedKey, limits, request.agentRef);
      const found = keys.find(credential, epoch);
      const key = found instanceof Promise ? await found : found;
      sent.key = key;
      const at = now();
      requireActiveKey(key, at);
      keyUsage.record(key, at);
      return { credential, caller: toCaller(key), scope: scopeOf(key), epoch, agent };
    } catch (refusal) {
      request.onRefused(refusal, sent.key && toCaller(sent.key));
      throw refusal;
    }
  };

  return {
    admitUnauthenticated,
    admit,
    readmit: async (admitted) => {
      const { credential, caller: before } = admitted;
      await confirmPerson(before.organisation.id, before.session);
      const { epoch } = await gate.pass(before.organisation.id, []);
      const aged = { ...epoch, maxAgeMs: epoch.maxAgeMs * streamKeyAgeFactor };
      const key = await keys.find(credential, aged);
      requireActiveKey(key, now());
      const scope = scopeOf(key);
      const agent = admitted.agent && (await agents.find(scope, toPublicId("agent", admitted.agent.id), aged));
      // The settings of a deleted agent still count.
      return { credential, caller: toCaller(key), scope, epoch, agent: agent ?? admitted.agent };
    },
  };
}
