import { isDeepStrictEqual } from "node:util";
import type { InputOf, Operations, SecretOperationKey } from "@perch/contract";
import type { Caller, Scope } from "../../auth/caller.ts";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import type { SecretOwner } from "../../outbound/secrets/find-secrets.ts";
import { conflict, forbidden, invalid, notFound } from "../../platform/api-error.ts";
import { Unchanged } from "../../platform/change-results.ts";
import type { Sealer } from "../../platform/sealing.ts";
import type { AgentDirectory } from "../agents/agent-directory.ts";
import { findAgentForUpdate } from "../agents/agent-queries.ts";
import { page, single } from "../envelopes.ts";
import type { Handlers, RequestContext } from "../handlers.ts";
import type { Quotas } from "../quotas/quotas.ts";
import { openSecretValue, type SecretIdentity, sealSecretValue } from "./seal-secret.ts";
import * as queries from "./secret-queries.ts";
import { addsHost, normaliseHosts } from "./secret-rules.ts";
import { toSecret } from "./to-secret.ts";

interface SecretDeps {
  readonly db: Database;
  readonly agents: AgentDirectory;
  readonly quotas: Quotas;
  readonly secrets: Sealer;
}

type CreateBody = InputOf<Operations["POST /v1/secrets"]>["body"];
type UpdateBody = InputOf<Operations["PATCH /v1/secrets/{secret_name}"]>["body"];
type ListQuery = InputOf<Operations["GET /v1/secrets"]>["query"];
type OwnerInTransaction = (trx: OrganisationTransaction) => Promise<SecretOwner>;

/** The owner of secrets for all agents. */
function organisationOwner({ organisationId }: Scope, { onlyAgentId }: Caller): SecretOwner {
  if (onlyAgentId !== null)
    throw forbidden(
      "This key belongs to one agent. Manage that agent's own secrets, or use an organisation's key for those of all agents.",
    );
  return { organisationId, agentId: null };
}

/** Locks the agent, so that it is not deleted in the meantime: deleting an agent deletes its secrets. */
const lockAgentOwner =
  (scope: Scope, ref: string): OwnerInTransaction =>
  async (trx) => {
    const agent = await findAgentForUpdate(trx, scope, ref);
    if (!agent) throw notFound("agent", ref);
    return { organisationId: scope.organisationId, agentId: agent.id };
  };

const needsValue =
  "A new host needs `value` again: otherwise a caller who may change hosts could have the stored value sent to a host of their own";

/** Fewer hosts and another approval need a new seal too, because the old one opens only for the old ones. */
function sealChanged(
  secrets: Sealer,
  row: queries.SecretRow,
  value: string | undefined,
  next: Pick<SecretIdentity, "hosts" | "approval">,
): Buffer {
  const { organisation_id: organisationId, agent_id: agentId, name } = row;
  const identity = { organisationId, agentId, name };
  if (value !== undefined) return sealSecretValue(secrets, value, { ...identity, ...next });
  if (addsHost(row.hosts, next.hosts)) throw invalid("value", needsValue);
  const kept = openSecretValue(secrets, row.sealed_value, { ...identity, hosts: row.hosts, approval: row.approval });
  return sealSecretValue(secrets, kept, { ...identity, ...next });
}

/** The ten operations, for either owner. */
function secretActions({ db, quotas, secrets }: Omit<SecretDeps, "agents">) {
  return {
    create: ({ caller, change }: RequestContext, lockOwner: OwnerInTransaction, body: CreateBody) => {
      const { name, value, approval = null } = body;
      const hosts = normaliseHosts(body.hosts);
      return change(async (trx) => {
        const owner = await lockOwner(trx);
        await quotas.requireRoom(trx, caller.organisation, "secrets");
        const sealedValue = sealSecretValue(secrets, value, { ...owner, name, hosts, approval });
        const created = { name, hosts, approval, sealedValue, createdBy: caller.keyId };
        const row = await queries.insertSecret(trx, owner, created);
        if (!row) throw conflict(`There is a secret called ${JSON.stringify(name)} already. Change that one.`);
        return single(toSecret(row));
      });
    },

    list: (owner: SecretOwner, query: ListQuery) =>
      db.inOrganisation(owner.organisationId, async (trx) => {
        const rows = await queries.listSecrets(trx, owner, query);
        return page(rows.map(toSecret), query, await queries.countSecrets(trx, owner));
      }),

    get: async (owner: SecretOwner, name: string) => {
      const row = await db.inOrganisation(owner.organisationId, (trx) => queries.findSecret(trx, owner, name));
      if (!row) throw notFound("secret", name);
      return single(toSecret(row));
    },

    update: ({ caller, change }: RequestContext, lockOwner: OwnerInTransaction, name: string, body: UpdateBody) => {
      const given = body.hosts && normaliseHosts(body.hosts);
      return change(async (trx) => {
        const owner = await lockOwner(trx);
        const row = await queries.findSecretForUpdate(trx, owner, name);
        if (!row) throw notFound("secret", name);
        const hosts = given ?? row.hosts;
        const approval = body.approval === undefined ? row.approval : body.approval;
        // A value that is given is not compared with the stored one: that would answer guesses.
        if (body.value === undefined && isDeepStrictEqual([hosts, approval], [row.hosts, row.approval]))
          return new Unchanged(single(toSecret(row)));
        const sealedValue = sealChanged(secrets, row, body.value, { hosts, approval });
        const changed = { hosts, approval, sealedValue, updatedBy: caller.keyId };
        return single(toSecret(await queries.updateSecret(trx, owner, name, changed)));
      });
    },

    delete: ({ change }: RequestContext, lockOwner: OwnerInTransaction, name: string) =>
      change(async (trx) => {
        if (!(await queries.deleteSecret(trx, await lockOwner(trx), name))) throw notFound("secret", name);
        return single({ name, deleted: true as const });
      }),
  };
}

export const secretHandlers = ({ agents, ...deps }: SecretDeps) => {
  const actions = secretActions(deps);
  const ofOrganisation = ({ scope, caller }: RequestContext): OwnerInTransaction => {
    const owner = organisationOwner(scope, caller);
    return async () => owner;
  };
  const ofAgent = async (context: RequestContext, ref: string): Promise<SecretOwner> => {
    const { organisation_id: organisationId, id: agentId } = await agents.get(context, ref);
    return { organisationId, agentId };
  };

  return {
    "POST /v1/secrets": async ({ body }, context) => actions.create(context, ofOrganisation(context), body),
    "GET /v1/secrets": async ({ query }, { scope, caller }) => actions.list(organisationOwner(scope, caller), query),
    "GET /v1/secrets/{secret_name}": async ({ params }, { scope, caller }) =>
      actions.get(organisationOwner(scope, caller), params.secret_name),
    "PATCH /v1/secrets/{secret_name}": async ({ params, body }, context) =>
      actions.update(context, ofOrganisation(context), params.secret_name, body),
    "DELETE /v1/secrets/{secret_name}": async ({ params }, context) =>
      actions.delete(context, ofOrganisation(context), params.secret_name),

    "POST /v1/agents/{agent_id}/secrets": async ({ params, body }, context) =>
      actions.create(context, lockAgentOwner(context.scope, params.agent_id), body),
    "GET /v1/agents/{agent_id}/secrets": async ({ params, query }, context) =>
      actions.list(await ofAgent(context, params.agent_id), query),
    "GET /v1/agents/{agent_id}/secrets/{secret_name}": async ({ params }, context) =>
      actions.get(await ofAgent(context, params.agent_id), params.secret_name),
    "PATCH /v1/agents/{agent_id}/secrets/{secret_name}": async ({ params, body }, context) =>
      actions.update(context, lockAgentOwner(context.scope, params.agent_id), params.secret_name, body),
    "DELETE /v1/agents/{agent_id}/secrets/{secret_name}": async ({ params }, context) =>
      actions.delete(context, lockAgentOwner(context.scope, params.agent_id), params.secret_name),
  } satisfies Handlers<SecretOperationKey>;
};
