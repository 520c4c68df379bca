import type { KeyOperationKey } from "@perch/contract";
import { type Caller, identityOf, type Scope } from "../../auth/caller.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import { forbidden, notFound } from "../../platform/api-error.ts";
import { parsePublicId, toPublicId } from "../../platform/ids.ts";
import { findAgent, findAgentForUpdate } from "../agents/agent-queries.ts";
import { page, single } from "../envelopes.ts";
import type { Handlers } from "../handlers.ts";
import { toLimits } from "../quotas/quota-usage.ts";
import { requireMayGiveApprove } from "./approve-grants.ts";
import { issueKey } from "./issue-key.ts";
import { type KeyDeps, keyLifecycleHandlers } from "./key-lifecycle-handlers.ts";
import * as queries from "./key-queries.ts";
import { grantedPermissions, refuseEscalation, refuseOperateForAgent } from "./key-rules.ts";
import { toKey } from "./to-key.ts";

/** The agent of a new key. A caller that is bound to one agent can only create keys for that agent. */
async function resolveGrantedAgentId(
  trx: OrganisationTransaction,
  scope: Scope,
  ref: string | undefined,
): Promise<string | null> {
  if (ref === undefined) {
    if (scope.onlyAgentId !== null) {
      throw forbidden(
        `This key belongs to one agent: give \`agent_id\`: ${JSON.stringify(toPublicId("agent", scope.onlyAgentId))}.`,
      );
    }
    return null;
  }
  // Locks the agent: a key created while the agent is being deleted would escape its revocation.
  const agent = await findAgentForUpdate(trx, scope, ref);
  if (!agent) throw notFound("agent", ref);
  return agent.id;
}

/** Null for a request with an API key. */
const toCurrentSession = async (
  { listOrganisations }: Pick<KeyDeps, "listOrganisations">,
  caller: Caller,
  csrfToken: string | undefined,
) => {
  const { session } = caller;
  return session && csrfToken !== undefined
    ? {
        id: toPublicId("consoleSession", session.id),
        expires_at: session.expiresAt.toISOString(),
        csrf_token: csrfToken,
        person: session.person,
        organisations: (await listOrganisations(caller)).map(({ id, name, role }) => ({
          id: toPublicId("organisation", id),
          name,
          role,
        })),
      }
    : null;
};

export const keyHandlers = (deps: KeyDeps) => {
  const { db, keyDigest, quotas, findUsage, hasSecondFactor, now } = deps;
  return {
    "POST /v1/keys": async ({ body }, { caller, scope, change }) => {
      const granted = grantedPermissions(body);
      const expiresAt = body.expires_at === undefined ? null : new Date(body.expires_at);
      refuseEscalation(caller, granted, expiresAt, now());
      refuseOperateForAgent(granted, body.agent_id);
      return change(async (trx) => {
        if (granted.includes("approve")) await requireMayGiveApprove(trx, caller, "Giving a key `approve`");
        const agentId = await resolveGrantedAgentId(trx, scope, body.agent_id);
        await quotas.requireRoom(trx, caller.organisation, "keys");
        const { row, token } = await issueKey(trx, keyDigest, scope, {
          agentId,
          name: body.name,
          role: body.role ?? null,
          permissions: granted,
          createdBy: caller.keyId,
          creators: [identityOf(caller)],
          expiresAt,
        });
        return single({ ...toKey(row, now()), key: token });
      });
    },

    "GET /v1/keys": ({ query }, { scope }) =>
      db.inOrganisation(scope.organisationId, async (trx) => {
        const agent = query.agent_id === undefined ? undefined : await findAgent(trx, scope, query.agent_id);
        if (query.agent_id !== undefined && !agent) throw notFound("agent", query.agent_id);
        const filter = { agentId: agent?.id, status: query.status };
        const keys = await queries.listKeys(trx, scope, filter, query);
        return page(
          keys.map((key) => toKey(key, now())),
          query,
          await queries.countKeys(trx, scope, filter),
        );
      }),

    "GET /v1/keys/{key_id}": async ({ params }, { scope }) => {
      const id = parsePublicId("key", params.key_id);
      const key = id && (await db.inOrganisation(scope.organisationId, (trx) => queries.findKey(trx, scope, id)));
      if (!key) throw notFound("key", params.key_id);
      return single(toKey(key, now()));
    },

    "GET /v1/me": async (_, { caller, epoch, csrfToken }) => {
      const { organisation } = caller;
      const usage = caller.onlyAgentId === null ? await findUsage(organisation, epoch) : null;
      return single({
        organisation: { ...organisation, id: toPublicId("organisation", organisation.id) },
        key: {
          id:
            caller.keyId === null ? toPublicId("consoleSession", caller.credentialId) : toPublicId("key", caller.keyId),
          name: caller.keyName,
          agent_id: caller.onlyAgentId && toPublicId("agent", caller.onlyAgentId),
          role: caller.role,
          permissions: [...caller.permissions],
          expires_at: caller.expiresAt?.toISOString() ?? null,
          second_factor: await hasSecondFactor(caller, epoch),
        },
        session: await toCurrentSession(deps, caller, csrfToken),
        usage,
        limits: toLimits(organisation.tier),
      });
    },

    ...keyLifecycleHandlers(deps),
  } satisfies Handlers<Exclude<KeyOperationKey, "POST /v1/keys/{key_id}/begin-mfa">>;
};
