import { setTimeout } from "node:timers/promises";
import type { InputOf, Operations } from "@perch/contract";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import { actFor } from "../../fairness/acting-organisation.ts";
import type { Share } from "../../fairness/shares.ts";
import type { OAuthClient, OAuthTokens } from "../../outbound/oauth/oauth-client.ts";
import { OAuthFailure } from "../../outbound/oauth/oauth-failure.ts";
import { isRefusedCall } from "../../outbound/secrets/resolve-call.ts";
import { ApiError, conflict, notFound } from "../../platform/api-error.ts";
import { Uncached, Unchanged } from "../../platform/change-results.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Digest, Sealer } from "../../platform/sealing.ts";
import { single } from "../envelopes.ts";
import type { RequestContext } from "../handlers.ts";
import type { ConnectionMetrics } from "./connection-metrics.ts";
import {
  type ConnectionRef,
  endIn,
  findConnection,
  findConnectionForUpdate,
  updateConnection,
} from "./connection-queries.ts";
import { explainFailure } from "./explain-failure.ts";
import { deleteConfirmedLink, deleteLink, findLinkForUpdate, type LinkRow, updateLinkStatus } from "./link-queries.ts";
import { deleteRegistration } from "./registrations.ts";
import type { RevokeAtProvider } from "./revoke-at-provider.ts";
import { type ConsentFlow, digestStep, openFlow } from "./seal-flow.ts";
import { isOfSameClient, sealGrant } from "./seal-grant.ts";
import { type ConnectionRow, toConnection } from "./to-connection.ts";

type ConfirmBody = InputOf<Operations["POST /v1/agents/{agent_id}/connections/{connection_id}/confirm"]>["body"];

export interface ConfirmDeps {
  readonly db: Database;
  readonly oauth: Pick<OAuthClient, "exchangeCode" | "revoke">;
  readonly agentChecks: Pick<Share, "hold">;
  readonly connectionGrants: Sealer;
  readonly connectionDigest: Digest;
  readonly revokeAtProvider: RevokeAtProvider;
  readonly telemetry: Pick<ConnectionMetrics, "connectionConsented">;
  readonly nowMs: () => number;
}

/** The request waits for it. */
const exchangeTimeoutMs = 10_000;
/** How often, and for how long, a request looks whether another one has confirmed the same code. */
const pollMs = 250;
const waitMs = 12_000;

const consentAgain = "a new link with POST /v1/agents/{agent_id}/connections, and let the user consent again.";
const newLink = `Create ${consentAgain}`;

/** The same for every code that is not valid: the reason would help to guess. */
const notValid = () =>
  conflict(
    `This code is not valid for this user and connection. A code works once, within two minutes, and only for the user the link was created for. If another request is confirming it right now, get the connection and see whether it is \`active\`. Otherwise create ${consentAgain}`,
  );

const advice = {
  retry: "Confirm again with the same code, within two minutes of the user's return.",
  otherwise: newLink,
};

const underWay = () =>
  new ApiError("unavailable", "Another request is confirming this code. Try again.", { retryAfterSeconds: 2 });

/** A consent that only this request may finish. */
interface Claimed {
  readonly link: LinkRow;
}

type Claim = Claimed | { readonly confirmed: ConnectionRow } | "under way" | "refused" | "hidden";

interface Presented {
  readonly userId: string;
  readonly code: Buffer;
}

/** Claims the link in a transaction of its own, so that whatever follows, no second request exchanges the code at the same time. */
async function claimLink(
  trx: OrganisationTransaction,
  { onlyUserId, ...ref }: ConnectionRef,
  { userId, code }: Presented,
): Promise<Claim> {
  const connection = await findConnectionForUpdate(trx, ref);
  if (!connection) return "hidden";
  const isOwn = onlyUserId === undefined || connection.user_id === onlyUserId;
  const isRightUser = isOwn && connection.user_id === userId;
  const isConfirmed = connection.status === "active" && connection.confirmed_digest?.equals(code) === true;
  if (isRightUser && isConfirmed) return { confirmed: connection };
  const consent = { organisationId: ref.organisationId, connectionId: ref.id };
  const link = await findLinkForUpdate(trx, consent, "returned", "confirming");
  const isRightCode = link?.secret_digest.equals(code) === true;
  if (isRightUser && isRightCode) {
    if (link.status === "confirming") return "under way";
    await updateLinkStatus(trx, link, "confirming");
    return { link };
  }
  // A user voids another user's link only with its code, which shows that they came back from a link made for the
  // other.
  if (link?.status === "returned" && (isOwn || isRightCode)) await deleteLink(trx, consent);
  return isOwn ? "refused" : "hidden";
}

interface Stored {
  readonly row: ConnectionRow;
  readonly before: ConnectionRow;
}

/** Between the claim and now, the connection may have been revoked, given a newer link, or gone with its user or agent. */
async function storeGrant(
  trx: OrganisationTransaction,
  deps: ConfirmDeps,
  ref: ConnectionRef,
  { link, flow, tokens }: { readonly link: LinkRow; readonly flow: ConsentFlow; readonly tokens: OAuthTokens },
): Promise<Stored> {
  const before = await findConnectionForUpdate(trx, ref);
  if (!before) throw notFound("connection", toPublicId("connection", ref.id));
  if (before.status === "revoked") throw conflict(`The connection was revoked meanwhile. ${newLink}`);
  if (!(await deleteConfirmedLink(trx, link)))
    throw conflict(`The connection was revoked, or got a newer link, meanwhile. ${newLink}`);
  const { organisationId, agentId } = ref;
  const identity = { organisationId, agentId, userId: before.user_id, tool: before.tool, sentTo: flow.target };
  const row = await updateConnection(trx, before, "confirm", {
    status: "active",
    reason: null,
    issuer: flow.configuration.issuer,
    scopes: [...tokens.scopes],
    sealed_grant: sealGrant(deps.connectionGrants, { configuration: flow.configuration, tokens }, identity),
    confirmed_digest: link.secret_digest,
    generation: before.generation + 1,
    access_expires_at: endIn(tokens.expiresAtMs === null ? null : tokens.expiresAtMs - deps.nowMs()),
  });
  return { row, before };
}

/** Exchanges the provider's code for tokens, once the application has confirmed that its own user came back. */
export function createConfirmation(deps: ConfirmDeps) {
  const { db, oauth, agentChecks, connectionGrants, connectionDigest, revokeAtProvider, telemetry } = deps;

  const exchange = async ({ organisationId, agentId }: ConnectionRef, flow: ConsentFlow): Promise<OAuthTokens> => {
    const { configuration, secrets, callback } = flow;
    if (!secrets || callback === undefined) throw new Error("a link came back without its secrets");
    const answer = { parameters: new URLSearchParams(callback), secrets };
    const signal = AbortSignal.timeout(exchangeTimeoutMs);
    const owner = { organisationId, agentId };
    return agentChecks.hold(organisationId, () =>
      actFor(organisationId, () => oauth.exchangeCode(owner, configuration, answer, signal)),
    );
  };

  /** If the provider did not answer, the code may still be valid there, so the application can confirm again. */
  const endOrRestore = async (error: unknown, ref: ConnectionRef, link: LinkRow, flow: ConsentFlow): Promise<never> => {
    const isOver = isRefusedCall(error) || (error instanceof OAuthFailure && error.kind !== "unavailable");
    if (isOver) telemetry.connectionConsented("refused");
    await db.inOrganisation(ref.organisationId, async (trx) => {
      if (!isOver) return updateLinkStatus(trx, link, "returned");
      await deleteConfirmedLink(trx, link);
      if (error instanceof OAuthFailure && error.isAboutClient) await deleteRegistration(trx, ref, flow.configuration);
    });
    throw explainFailure(error, advice);
  };

  const revokeUnusedTokens = (
    { organisationId, agentId }: ConnectionRef,
    { configuration }: ConsentFlow,
    tokens: OAuthTokens,
  ): void =>
    void actFor(organisationId, () =>
      oauth.revoke({ organisationId, agentId }, configuration, tokens, AbortSignal.timeout(exchangeTimeoutMs)),
    ).catch(() => undefined);

  /**
   * Nothing was stored, or only the answer to that was lost: then the row has these tokens. A provider may end all consents of a user
   * and client with one, so those that another consent replaced are left to expire.
   */
  const endUnstored = async (ref: ConnectionRef, { link }: Claimed, flow: ConsentFlow, tokens: OAuthTokens) => {
    const isUsed = await db.inOrganisation(ref.organisationId, async (trx) => {
      const row = await findConnection(trx, ref);
      await deleteConfirmedLink(trx, link);
      if (row?.status !== "active") return false;
      return (
        row.confirmed_digest?.equals(link.secret_digest) || isOfSameClient(connectionGrants, row, flow.configuration)
      );
    });
    if (!isUsed) revokeUnusedTokens(ref, flow, tokens);
  };

  /**
   * Revokes the replaced grant, which is useless now. A grant of the same client stays: it may be one with the new, and
   * revoking could end both.
   */
  const revokeReplaced = ({ before }: Stored, { configuration }: ConsentFlow): void => {
    if (before.sealed_grant !== null && !isOfSameClient(connectionGrants, before, configuration))
      void revokeAtProvider(before, exchangeTimeoutMs);
  };

  const finish = async ({ change }: RequestContext, ref: ConnectionRef, claimed: Claimed) => {
    const { link } = claimed;
    const consent = { organisationId: ref.organisationId, connectionId: ref.id };
    const flow = openFlow(connectionGrants, link.sealed_flow, consent);
    const tokens = await exchange(ref, flow).catch((error: unknown) => endOrRestore(error, ref, link, flow));
    let stored: Stored | undefined;
    try {
      const answer = await change(async (trx) => {
        stored = await storeGrant(trx, deps, ref, { link, flow, tokens });
        return new Uncached(single(toConnection(stored.row)));
      });
      telemetry.connectionConsented("confirmed");
      if (stored) revokeReplaced(stored, flow);
      return answer;
    } catch (error) {
      // If the database does not answer either, it is unknown whether the tokens are in use, so they are not revoked.
      await endUnstored(ref, claimed, flow, tokens).catch(() => undefined);
      throw error;
    }
  };

  /** Refuses a used `Idempotency-Key`, or repeats its answer, before the provider's code is used up. */
  const requireUnusedKey = async ({ change, idempotentRequest }: RequestContext): Promise<void> => {
    if (!idempotentRequest) return;
    const unused = new Error("this key was not used");
    await change(() => Promise.reject(unused)).catch((error: unknown) => {
      if (error !== unused) throw error;
    });
  };

  /** A request that is sent twice at once waits for the first, and then gets its answer. */
  const claimInTurn = async (ref: ConnectionRef, presented: Presented): Promise<Exclude<Claim, "under way">> => {
    for (let waitedMs = 0; waitedMs <= waitMs; waitedMs += pollMs) {
      const claim = await db.inOrganisation(ref.organisationId, (trx) => claimLink(trx, ref, presented));
      if (claim !== "under way") return claim;
      await setTimeout(pollMs);
    }
    throw underWay();
  };

  return async (context: RequestContext, ref: ConnectionRef, body: ConfirmBody) => {
    const code = digestStep(connectionDigest, "code", body.code);
    const presented = { userId: body.user_id, code };
    await requireUnusedKey(context);
    const claim = await claimInTurn(ref, presented);
    if (claim === "hidden") throw notFound("connection", toPublicId("connection", ref.id));
    if (claim === "refused") {
      telemetry.connectionConsented("refused");
      throw notValid();
    }
    if ("confirmed" in claim) return context.change(async () => new Unchanged(single(toConnection(claim.confirmed))));
    return finish(context, ref, claim);
  };
}
