import type { Database } from "../db/database.ts";
import { createEpochCache } from "../gate/epoch-cache.ts";
import type { Epoch } from "../gate/gate.ts";
import type { RequestContext, Scope } from "../handlers.ts";
import { notFound } from "../platform/api-error.ts";
import { type AgentRow, findAgent } from "./agent-queries.ts";

/** Agents by id or name, remembered while the epoch holds. An agent that is not there is remembered too. */
export interface AgentDirectory {
  readonly find: (scope: Scope, ref: string, epoch: Epoch) => Promise<AgentRow | undefined>;
  /** For a handler: an agent that is not there, or out of reach, is 404. */
  readonly get: (context: Pick<RequestContext, "scope" | "epoch">, ref: string) => Promise<AgentRow>;
  /** What was last known of it, perhaps not true any more. */
  readonly lastKnown: (organisationId: string, ref: string) => { readonly is: AgentRow | undefined } | undefined;
}

interface AgentDirectoryDeps {
  readonly db: Database;
  readonly now: () => number;
}

const mostAgents = 20_000;

export function createAgentDirectory({ db, now }: AgentDirectoryDeps): AgentDirectory {
  const cache = createEpochCache<AgentRow | undefined>({ most: mostAgents, now });
  const keyOf = (organisationId: string, ref: string) => `${organisationId} ${ref}`;
  const find: AgentDirectory["find"] = async ({ organisationId, agentId }, ref, epoch) => {
    const agent = await cache.load(keyOf(organisationId, ref), epoch, () =>
      db.inOrganisation(organisationId, (trx) => findAgent(trx, { organisationId, agentId: null }, ref)),
    );
    return agentId === null || agent?.id === agentId ? agent : undefined;
  };
  return {
    find,
    get: async ({ scope, epoch }, ref) => {
      const agent = await find(scope, ref, epoch);
      if (!agent) throw notFound("agent", ref);
      return agent;
    },
    lastKnown: (organisationId, ref) => cache.peek(keyOf(organisationId, ref)),
  };
}
