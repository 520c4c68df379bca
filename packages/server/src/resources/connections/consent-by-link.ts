import {
  type ConnectionTokens,
  type ConsentRef,
  confirmMinutes,
  consentMinutes,
  newConfirmationCode,
  newOneTimeSecret,
} from "../../auth/connection-token.ts";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import type { OAuthClient, OAuthConfiguration } from "../../outbound/oauth/oauth-client.ts";
import { OAuthFailure } from "../../outbound/oauth/oauth-failure.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import type { Digest, Sealer } from "../../platform/sealing.ts";
import { type AgentRow, findAgent } from "../agents/agent-queries.ts";
import { addToReturnUrl } from "./choose-tool.ts";
import type { ConnectionMetrics } from "./connection-metrics.ts";
import { deleteLink, findLink, findLinkForUpdate, type LinkRow, updateLink } from "./link-queries.ts";
import { type ConsentFlow, digestStep, openFlow, sealFlow } from "./seal-flow.ts";

/** The facts that a person who opened a link sees before anything happens. */
export interface ShownConsent {
  readonly agentName: string;
  readonly tool: string;
  /** The hosts that the browser goes to, and returns to. */
  readonly providerHost: string;
  readonly returnHost: string;
  /** The host that gets the tokens. */
  readonly usedAtHost: string;
}

/** Whether the agent's own settings admit this browser. */
export type IsAdmittedTo = (agent: AgentRow) => boolean;

export interface OpenedConsent {
  /** The address to send the browser to. */
  readonly url: string;
  readonly connectionId: string;
  /** For the cookie of the browser that has opened the link. */
  readonly browserSecret: string;
}

/** The parameters with which a provider sent a browser back. */
export interface Callback {
  /** As the browser asked for it, up to the query. */
  readonly address: string;
  readonly parameters: URLSearchParams;
  readonly browserSecretFor: (connectionId: string) => string | undefined;
  readonly isAdmittedTo: IsAdmittedTo;
}

export interface ReturnedConsent {
  /** The address to send the browser to. */
  readonly url: string;
  readonly connectionId: string;
}

/** All are undefined for an invalid link, whatever the reason, because the reason would reveal what exists. */
export interface ConsentByLink {
  /** Changes nothing: mail programs and chats open links by themselves. */
  readonly find: (token: string, isAdmittedTo: IsAdmittedTo) => Promise<ShownConsent | undefined>;
  /** Uses the link up. */
  readonly open: (token: string, isAdmittedTo: IsAdmittedTo) => Promise<OpenedConsent | undefined>;
  /** No token is fetched: the application has to confirm first. */
  readonly handleCallback: (callback: Callback) => Promise<ReturnedConsent | undefined>;
}

interface ConsentDeps {
  readonly db: Pick<Database, "inOrganisation">;
  readonly oauth: Pick<OAuthClient, "authorizationUrl" | "newConsentSecrets" | "checkCallback">;
  readonly connectionTokens: ConnectionTokens;
  readonly connectionGrants: Sealer;
  readonly connectionDigest: Digest;
  readonly telemetry: Pick<ConnectionMetrics, "connectionConsented">;
  readonly logger: Logger;
}

const hostOf = ({ authorizationEndpoint, issuer }: OAuthConfiguration): string =>
  new URL(authorizationEndpoint ?? issuer).host;

/** Undefined unless the agent exists and admits this browser. */
async function findConsenting(
  trx: OrganisationTransaction,
  { organisationId, connectionId }: ConsentRef,
  isAdmittedTo: IsAdmittedTo,
) {
  const connection = await trx
    .selectFrom("connections")
    .select(["agent_id", "tool"])
    .where("organisation_id", "=", organisationId)
    .where("id", "=", connectionId)
    .executeTakeFirst();
  if (!connection) return undefined;
  const scope = { organisationId, onlyAgentId: null };
  const agent = await findAgent(trx, scope, toPublicId("agent", connection.agent_id));
  return agent && isAdmittedTo(agent) ? { agentName: agent.name, tool: connection.tool } : undefined;
}

/** The error that the application gets, in the words of RFC 6749. The provider's own text is not passed on. */
const errorWords = { denied: "access_denied", unavailable: "temporarily_unavailable" } as const;
const errorOf = ({ kind }: OAuthFailure): string =>
  kind === "denied" || kind === "unavailable" ? errorWords[kind] : "server_error";

/** The way of a browser from a link to the provider and back to the application. */
export function createConsentByLink(deps: ConsentDeps): ConsentByLink {
  const { db, oauth, connectionTokens, connectionGrants, connectionDigest, telemetry, logger } = deps;
  const { links, states } = connectionTokens;
  const isDigestOf = (digest: Buffer | null, step: "link" | "state" | "browser", secret: string): boolean =>
    digest?.equals(digestStep(connectionDigest, step, secret)) === true;
  const flowOf = (link: LinkRow, consent: ConsentRef): ConsentFlow =>
    openFlow(connectionGrants, link.sealed_flow, consent);

  const openLink = async (
    trx: OrganisationTransaction,
    consent: ConsentRef,
    token: string,
    isAdmittedTo: IsAdmittedTo,
  ): Promise<OpenedConsent | undefined> => {
    if (!(await findConsenting(trx, consent, isAdmittedTo))) return undefined;
    const link = await findLinkForUpdate(trx, consent, "created");
    if (!link || !isDigestOf(link.secret_digest, "link", token)) return undefined;
    const flow = flowOf(link, consent);
    const state = states.create(consent);
    const secrets = oauth.newConsentSecrets(state);
    const url = await oauth.authorizationUrl(flow.configuration, secrets);
    const browserSecret = newOneTimeSecret();
    await updateLink(trx, consent, {
      status: "opened",
      secretDigest: digestStep(connectionDigest, "state", state),
      browserDigest: digestStep(connectionDigest, "browser", browserSecret),
      sealedFlow: sealFlow(connectionGrants, { ...flow, secrets }, consent),
      minutes: consentMinutes,
    });
    return { url: url.href, connectionId: consent.connectionId, browserSecret };
  };

  /** The link of the browser that comes back, if it is this browser's, and comes to the address of its own provider. */
  const findOpened = async (trx: OrganisationTransaction, consent: ConsentRef, state: string, callback: Callback) => {
    if (!(await findConsenting(trx, consent, callback.isAdmittedTo))) return undefined;
    const link = await findLinkForUpdate(trx, consent, "opened");
    const browserSecret = callback.browserSecretFor(consent.connectionId);
    if (!link || !isDigestOf(link.secret_digest, "state", state) || browserSecret === undefined) return undefined;
    if (!isDigestOf(link.browser_digest, "browser", browserSecret)) return undefined;
    const flow = flowOf(link, consent);
    return flow.configuration.redirectUri === callback.address ? { link, flow } : undefined;
  };

  const endWithError = async (
    trx: OrganisationTransaction,
    consent: ConsentRef,
    { return_url }: LinkRow,
    failure: OAuthFailure,
  ): Promise<string> => {
    await deleteLink(trx, consent);
    telemetry.connectionConsented(failure.kind === "denied" ? "denied" : "refused");
    const connection_id = toPublicId("connection", consent.connectionId);
    const { organisationId } = consent;
    logger.info({ err: failure, organisationId, connectionId: connection_id }, "a consent ended without a code");
    return addToReturnUrl(return_url, { connection_id, error: errorOf(failure) });
  };

  const issueCode = async (
    trx: OrganisationTransaction,
    consent: ConsentRef,
    { link, flow }: { readonly link: LinkRow; readonly flow: ConsentFlow },
    parameters: URLSearchParams,
  ): Promise<string> => {
    const code = newConfirmationCode();
    await updateLink(trx, consent, {
      status: "returned",
      secretDigest: digestStep(connectionDigest, "code", code),
      browserDigest: null,
      sealedFlow: sealFlow(connectionGrants, { ...flow, callback: parameters.toString() }, consent),
      minutes: confirmMinutes,
    });
    return addToReturnUrl(link.return_url, { connection_id: toPublicId("connection", consent.connectionId), code });
  };

  const returnFrom = async (
    trx: OrganisationTransaction,
    consent: ConsentRef,
    state: string,
    callback: Callback,
  ): Promise<ReturnedConsent | undefined> => {
    const opened = await findOpened(trx, consent, state, callback);
    if (!opened) return undefined;
    const { connectionId } = consent;
    try {
      oauth.checkCallback(opened.flow.configuration, callback.parameters, state);
    } catch (error) {
      if (!(error instanceof OAuthFailure)) throw error;
      return { connectionId, url: await endWithError(trx, consent, opened.link, error) };
    }
    return { connectionId, url: await issueCode(trx, consent, opened, callback.parameters) };
  };

  return {
    find: async (token, isAdmittedTo) => {
      const consent = links.open(token);
      if (!consent) return undefined;
      return db.inOrganisation(consent.organisationId, async (trx) => {
        const consenting = await findConsenting(trx, consent, isAdmittedTo);
        const link = consenting && (await findLink(trx, consent, "created"));
        if (!link || !isDigestOf(link.secret_digest, "link", token)) return undefined;
        const { configuration, target } = flowOf(link, consent);
        const returnHost = new URL(link.return_url).host;
        return { ...consenting, providerHost: hostOf(configuration), usedAtHost: new URL(target).host, returnHost };
      });
    },
    open: async (token, isAdmittedTo) => {
      const consent = links.open(token);
      return consent && db.inOrganisation(consent.organisationId, (trx) => openLink(trx, consent, token, isAdmittedTo));
    },
    handleCallback: async (callback) => {
      const given = callback.parameters.getAll("state");
      const [state = ""] = given;
      const consent = given.length === 1 ? states.open(state) : undefined;
      return consent && db.inOrganisation(consent.organisationId, (trx) => returnFrom(trx, consent, state, callback));
    },
  };
}
