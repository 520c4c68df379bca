import { type AgentResource, type AgentSource, isAgentResource, type Permission } from "@perch/contract";
import { authorize } from "../auth/authenticate.ts";
import type { Caller, Scope } from "../auth/caller.ts";
import type { Client } from "../auth/client.ts";
import type { Database } from "../db/database.ts";
import { ApiError, isRefusal } from "../platform/api-error.ts";
import { parsePublicId } from "../platform/ids.ts";
import type { AgentDirectory } from "../resources/agents/agent-directory.ts";
import type { GuardedAgent } from "../resources/agents/agent-queries.ts";
import type { FindAgentId } from "../resources/resource.ts";
import type { Admitted } from "./admission.ts";
import type { Guard, MfaOperation } from "./guard.ts";
import { narrowScope, type Reach } from "./narrow-scope.ts";

/** The agents that an operation concerns, if the path names none. */
export interface ConcernedAgents {
  readonly source: Exclude<AgentSource, "path" | "none">;
  /** It reaches the data of every agent, unless it is given one: a webhook gets their events, an erasure removes from them. */
  readonly isAboutEveryAgent: boolean;
  readonly mfa: MfaOperation | undefined;
  readonly permission: Permission | null;
  readonly reach: Reach;
}

interface OperationInput {
  readonly params?: object;
  readonly query?: object;
  readonly body?: object;
}

interface AdmitDeps {
  readonly db: Pick<Database, "inOrganisation">;
  readonly agents: Pick<AgentDirectory, "find" | "guarded">;
  readonly guard: Pick<Guard, "admitToAgent" | "verifyForAgents">;
  readonly agentOfResource: Readonly<Record<AgentResource, FindAgentId>>;
}

export type AdmitToAgents = (
  concerned: ConcernedAgents,
  admitted: Admitted,
  client: Client,
  input: OperationInput,
) => Promise<Admitted>;

const fieldOf = (part: object | undefined, name: string): string | undefined =>
  (part as Record<string, string | undefined> | undefined)?.[name];

/** What may show several agents if it names none: lists, and the deliveries of a webhook for all agents. */
const overSeveral: readonly AgentSource[] = ["listed", "query", "webhook"];

/**
 * An agent's settings count wherever its data or its control can be reached, so also if a resource such as a webhook
 * belongs to it, or a field names it. Lists over several agents leave out those that refuse the caller.
 */
export function createAdmitToAgents({ db, agents, guard, agentOfResource }: AdmitDeps): AdmitToAgents {
  /** Undefined: the request is about no single agent. */
  const findAgentId = async (
    source: ConcernedAgents["source"],
    { scope, epoch }: Admitted,
    { params, query, body }: OperationInput,
  ): Promise<string | undefined> => {
    if (isAgentResource(source)) {
      const id = parsePublicId(source, fieldOf(params, `${source}_id`) ?? "");
      const find = agentOfResource[source];
      return (id && (await db.inOrganisation(scope.organisationId, (trx) => find(trx, scope, id)))) ?? undefined;
    }
    const ref = source === "listed" ? undefined : fieldOf(source === "body" ? body : query, "agent_id");
    if (ref === undefined) return scope.onlyAgentId ?? undefined;
    return (await agents.find(scope, ref, epoch))?.id;
  };

  const admitTo = async (
    client: Client,
    caller: Caller,
    concerned: readonly GuardedAgent[],
    isAboutAll: boolean,
  ): Promise<Caller> => {
    let admitted = caller;
    for (const agent of concerned) {
      try {
        admitted = await guard.admitToAgent(client, admitted, agent);
      } catch (error) {
        if (!isAboutAll || !isRefusal(error)) throw error;
        const why = `The agent ${agent.name} requires it, and this request reaches the data of every agent.`;
        throw new ApiError(error.code, `${error.message} ${why}`);
      }
    }
    return admitted;
  };

  /** Without the agents that refuse the caller. Where a token names the user, only what belongs to that user. */
  const scopeOfList = async (
    client: Client,
    { caller, scope }: Admitted,
    all: readonly GuardedAgent[],
    { permission, reach }: Pick<ConcernedAgents, "permission" | "reach">,
  ): Promise<Scope> => {
    const hiddenAgentIds: string[] = [];
    const onlyUserIds: Record<string, string> = {};
    for (const agent of all) {
      try {
        const admitted = await guard.admitToAgent(client, caller, agent);
        // A user's token may allow less at one agent than the key does.
        authorize(admitted, { permission });
        const { onlyUserId } = narrowScope(scope, admitted, reach);
        if (onlyUserId !== undefined) onlyUserIds[agent.id] = onlyUserId;
      } catch (error) {
        // Even if its issuer does not answer: one agent must not take the list away from the others.
        if (!(error instanceof ApiError)) throw error;
        hiddenAgentIds.push(agent.id);
      }
    }
    return { ...scope, hiddenAgentIds, onlyUserIds };
  };

  return async (operation, admitted, client, input) => {
    const { source, isAboutEveryAgent, mfa, permission, reach } = operation;
    const { scope, epoch } = admitted;
    const guarded = await agents.guarded(scope.organisationId, epoch);
    if (guarded.length === 0) return admitted;
    const agentId = await findAgentId(source, admitted, input);
    const isList = agentId === undefined && !isAboutEveryAgent && overSeveral.includes(source);
    if (isList) return { ...admitted, scope: await scopeOfList(client, admitted, guarded, operation) };
    const isAboutAll = agentId === undefined && isAboutEveryAgent;
    const concerned = guarded.filter(({ id }) => isAboutAll || id === agentId);
    const caller = await admitTo(client, admitted.caller, concerned, isAboutAll);
    authorize(caller, { permission });
    if (mfa) await guard.verifyForAgents(client, caller, concerned, mfa);
    return { ...admitted, caller, scope: narrowScope(scope, caller, reach) };
  };
}
