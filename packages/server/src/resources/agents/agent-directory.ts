import type { Scope } from "../../auth/caller.ts";
import type { Epoch } from "../../cache/epoch.ts";
import { type Cached, createEpochCache } from "../../cache/epoch-cache.ts";
import type { Database } from "../../db/database.ts";
import type { Shares } from "../../fairness/shares.ts";
import { notFound } from "../../platform/api-error.ts";
import type { RequestContext } from "../handlers.ts";
import { type AgentRow, findAgent, type GuardedAgent, listGuardedAgents } from "./agent-queries.ts";

type CachedAgent = Cached<AgentRow | undefined>;

/** Agents by id or name, cached while the organisation's epoch is current. Misses are cached too. */
export interface AgentDirectory {
  readonly find: (
    scope: Scope,
    ref: string,
    epoch: Epoch,
    lastKnown?: CachedAgent,
  ) => AgentRow | undefined | Promise<AgentRow | undefined>;
  /** For handlers: throws 404 if the agent does not exist or the caller cannot see it. */
  readonly get: (context: Pick<RequestContext, "scope" | "epoch">, ref: string) => AgentRow | Promise<AgentRow>;
  /** Every agent of the organisation with settings of its own, also deleted ones. */
  readonly guarded: (organisationId: string, epoch: Epoch) => Promise<readonly GuardedAgent[]>;
  /** The last cached value, which may be stale. */
  readonly lastKnown: (organisationId: string, ref: string) => CachedAgent | undefined;
}

interface AgentDirectoryDeps {
  readonly db: Database;
  readonly cacheBytes: Shares["cacheBytes"];
  readonly now: () => number;
}

const bounds = { maxEntries: 20_000, maxBytes: 64 * 1024 * 1024 };

export function createAgentDirectory({ db, cacheBytes, now }: AgentDirectoryDeps): AgentDirectory {
  const cache = createEpochCache<AgentRow | undefined>({ ...bounds, partOf: cacheBytes, now });
  const guarded = createEpochCache<readonly GuardedAgent[]>({ ...bounds, partOf: cacheBytes, now });
  const keyOf = (organisationId: string, ref: string) => `${organisationId} ${ref}`;
  const visibleTo = ({ onlyAgentId }: Scope, agent: AgentRow | undefined) =>
    onlyAgentId === null || agent?.id === onlyAgentId ? agent : undefined;

  const load = async (scope: Scope, ref: string, epoch: Epoch): Promise<AgentRow | undefined> => {
    const { organisationId } = scope;
    const agent = await cache.load(keyOf(organisationId, ref), epoch, () =>
      db.inOrganisation(organisationId, (trx) => findAgent(trx, { organisationId, onlyAgentId: null }, ref)),
    );
    return visibleTo(scope, agent);
  };

  const find: AgentDirectory["find"] = (scope, ref, epoch, lastKnown) => {
    const isCurrent = lastKnown !== undefined && cache.isCurrent(lastKnown, epoch);
    const cached = isCurrent ? lastKnown : cache.current(keyOf(scope.organisationId, ref), epoch);
    return cached ? visibleTo(scope, cached.value) : load(scope, ref, epoch);
  };

  const required = (agent: AgentRow | undefined, ref: string): AgentRow => {
    if (!agent) throw notFound("agent", ref);
    return agent;
  };

  return {
    find,
    get: ({ scope, epoch }, ref) => {
      const agent = find(scope, ref, epoch);
      return agent instanceof Promise ? agent.then((each) => required(each, ref)) : required(agent, ref);
    },
    guarded: (organisationId, epoch) =>
      guarded.load(organisationId, epoch, () =>
        db.inOrganisation(organisationId, (trx) => listGuardedAgents(trx, organisationId)),
      ),
    lastKnown: (organisationId, ref) => cache.peek(keyOf(organisationId, ref)),
  };
}
