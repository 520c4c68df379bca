import type { InputOf, Operations } from "@perch/contract";
import { type ConnectionTokens, consentMinutes } from "../../auth/connection-token.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import { actFor } from "../../fairness/acting-organisation.ts";
import type { Share } from "../../fairness/shares.ts";
import type { OAuthClient, OAuthConfiguration, Registrations } from "../../outbound/oauth/oauth-client.ts";
import { noPublicUrl } from "../../outbound/oauth/redirect-address.ts";
import type { FindSecrets } from "../../outbound/secrets/find-secrets.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { conflict, notFound } from "../../platform/api-error.ts";
import { Uncached } from "../../platform/change-results.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Digest, Sealer } from "../../platform/sealing.ts";
import { type AgentRow, findAgentForUpdate } from "../agents/agent-queries.ts";
import { findClientSecretRefusal } from "../deployments/check-connection.ts";
import type { ServingDirectory } from "../deployments/serving-directory.ts";
import { single } from "../envelopes.ts";
import type { RequestContext } from "../handlers.ts";
import type { Quotas } from "../quotas/quotas.ts";
import { chooseReturnUrl, chooseUserTool, type UserTool } from "./choose-tool.ts";
import {
  type ConnectionOwner,
  findOwnedConnectionForUpdate,
  insertConnection,
  updateConnection,
} from "./connection-queries.ts";
import { tokenTarget } from "./connection-rules.ts";
import { consentPaths } from "./consent-paths.ts";
import { explainFailure } from "./explain-failure.ts";
import { findServedTools } from "./find-served-tools.ts";
import { replaceLink } from "./link-queries.ts";
import type { RevokeAtProvider } from "./revoke-at-provider.ts";
import { digestStep, sealFlow } from "./seal-flow.ts";
import { type ConnectionRow, toConnection } from "./to-connection.ts";

type CreateBody = InputOf<Operations["POST /v1/agents/{agent_id}/connections"]>["body"];

export interface CreateDeps {
  readonly serving: Pick<ServingDirectory, "find" | "draftByDefault">;
  readonly quotas: Pick<Quotas, "requireRoom">;
  readonly oauth: Pick<OAuthClient, "discoverConfiguration">;
  readonly findSecrets: FindSecrets;
  readonly registrationsOf: (agent: AgentKey) => Registrations;
  /** How many requests of one organisation may wait for providers at once. */
  readonly agentChecks: Pick<Share, "hold">;
  readonly connectionTokens: Pick<ConnectionTokens, "links">;
  readonly connectionGrants: Sealer;
  readonly connectionDigest: Digest;
  readonly revokeAtProvider: RevokeAtProvider;
  readonly publicUrl: string | undefined;
}

/** The request waits for it. */
const findTimeoutMs = 10_000;

const advice = { otherwise: "Then create the link again." };

function requirePublicUrl(publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl;
  throw conflict(noPublicUrl);
}

/** A revoked one begins anew. The caller revokes its earlier grant, if the provider was not asked yet. */
const reopen = (trx: OrganisationTransaction, row: ConnectionRow): Promise<ConnectionRow> =>
  updateConnection(trx, row, "reopen", {
    status: "pending",
    revoked_at_provider: null,
    sealed_grant: null,
    issuer: null,
    scopes: [],
    access_expires_at: null,
  });

/** Finds the provider, outside of any transaction, and then makes the connection and its link. */
export function createConnectionCreation(deps: CreateDeps) {
  const { serving, quotas, oauth, registrationsOf, agentChecks, connectionTokens, connectionGrants } = deps;

  const discoverConfiguration = async (agent: AgentKey, tool: UserTool): Promise<OAuthConfiguration> => {
    const options = { registrations: registrationsOf(agent), signal: AbortSignal.timeout(findTimeoutMs) };
    try {
      const configuration = await agentChecks.hold(agent.organisationId, () =>
        actFor(agent.organisationId, () => oauth.discoverConfiguration(agent, tool, options)),
      );
      const refusal = await findClientSecretRefusal(deps.findSecrets, agent, tool, configuration.tokenEndpoint);
      if (refusal) throw refusal;
      return configuration;
    } catch (error) {
      throw explainFailure(error, advice);
    }
  };

  const upsert = async (trx: OrganisationTransaction, { caller }: RequestContext, owner: ConnectionOwner) => {
    const found = await findOwnedConnectionForUpdate(trx, owner);
    if (found) return { row: found.status === "revoked" ? await reopen(trx, found) : found, before: found };
    await quotas.requireRoom(trx, caller.organisation, "connections");
    return { row: await insertConnection(trx, owner), before: undefined };
  };

  return async (context: RequestContext, agent: AgentRow, body: CreateBody) => {
    const publicUrl = requirePublicUrl(deps.publicUrl);
    const key = { organisationId: agent.organisation_id, agentId: agent.id };
    const { tools, where } = await findServedTools(serving, agent, context, body.environment);
    const tool = chooseUserTool(tools, body.tool, where);
    const returnUrl = chooseReturnUrl(tool, body.return_url);
    const configuration = await discoverConfiguration(key, tool);
    const target = tokenTarget(tool);
    let unrevoked: ConnectionRow | undefined;
    const answer = await context.change(async (trx) => {
      // Locked, so that it is not deleted in the meantime.
      const ref = toPublicId("agent", agent.id);
      if (!(await findAgentForUpdate(trx, context.scope, ref))) throw notFound("agent", ref);
      const owner = { ...key, userId: body.user_id, tool: tool.name, sentTo: target };
      const { row, before } = await upsert(trx, context, owner);
      if (before?.revoked_at_provider === "pending") unrevoked = before;
      const consent = { organisationId: key.organisationId, connectionId: row.id };
      const token = connectionTokens.links.create(consent);
      const expiresAt = await replaceLink(trx, consent, {
        secretDigest: digestStep(deps.connectionDigest, "link", token),
        returnUrl,
        sealedFlow: sealFlow(connectionGrants, { configuration, target }, consent),
        createdBy: context.caller.keyId,
        minutes: consentMinutes,
      });
      return new Uncached(
        single({
          ...toConnection(row),
          link: publicUrl + consentPaths.connect + token,
          link_expires_at: expiresAt.toISOString(),
        }),
      );
    });
    // Reopening has cleared the grant, so housekeeping could no longer revoke it.
    if (unrevoked) void deps.revokeAtProvider(unrevoked, findTimeoutMs);
    return answer;
  };
}
