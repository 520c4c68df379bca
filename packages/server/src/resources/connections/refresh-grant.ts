import { setTimeout } from "node:timers/promises";
import type { Database } from "../../db/database.ts";
import type { OAuthClient, OAuthTokens } from "../../outbound/oauth/oauth-client.ts";
import { OAuthFailure } from "../../outbound/oauth/oauth-failure.ts";
import { TransientToolError } from "../../outbound/tools/tool-errors.ts";
import type { Logger } from "../../platform/logger.ts";
import type { Sealer } from "../../platform/secrets.ts";
import type { Telemetry } from "../../telemetry/telemetry.ts";
import { markNeedsReauth } from "./needs-reauth.ts";
import { type ConnectionIdentity, type Grant, sealGrant } from "./seal-grant.ts";
import * as queries from "./token-queries.ts";
import { isClaimed } from "./token-rules.ts";

interface RefreshGrantDeps {
  readonly db: Pick<Database, "inOrganisation" | "onBehalfOf">;
  readonly connectionGrants: Sealer;
  readonly oauth: Pick<OAuthClient, "refresh" | "revoke">;
  readonly dispatchDeliveries: () => void;
  readonly telemetry: Pick<Telemetry, "connectionRefreshed">;
  readonly logger: Logger;
  readonly now: () => number;
}

/** A grant as it was read, and whose it is. */
export interface ReadGrant {
  readonly identity: ConnectionIdentity;
  readonly row: queries.UsableConnection;
  readonly grant: Grant;
}

/**
 * Replaces the tokens of a row, or waits until another worker has. When it returns, the row is worth reading again. Throws a
 * `TransientToolError`, an `OAuthFailure` or what putting a secret into the call throws.
 */
export type RefreshGrant = (read: ReadGrant) => Promise<void>;

const refreshTimeoutMs = 10_000;
/** Longer than a refresh takes, with its result stored. A worker that dies in it keeps others waiting for so long. */
const leaseMs = 20_000;
/** So that a provider that is down is asked once in so long, and not by each run. */
const pauseAfterFailureMs = 2000;
const maxWaitMs = 25_000;
const storeTries = 6;

const keyOf = ({ identity, row }: ReadGrant): queries.GrantKey => ({
  organisationId: identity.organisationId,
  id: row.id,
  generation: row.generation,
});

const ended = "The access token has ended or is refused, and the provider gave nothing to renew it with.";
const otherFailed = "Another worker could not refresh the access token.";

export function createRefreshGrant(deps: RefreshGrantDeps): RefreshGrant {
  const { db, connectionGrants, oauth, telemetry, logger, now } = deps;
  /** By tokens: runs of one process ask once, and look into the database once for all of them. */
  const underWay = new Map<string, Promise<void>>();

  const waitForOther = async ({ identity, row }: ReadGrant): Promise<void> => {
    let claimedUntil = 0;
    for (let waitedMs = 0, pauseMs = 100; waitedMs < maxWaitMs; pauseMs = Math.min(500, pauseMs * 2)) {
      const read = await db.onBehalfOf(identity.organisationId, (one) => queries.findUsableConnection(one, identity));
      if (read?.status !== "active" || read.generation !== row.generation || !isClaimed(read)) return;
      const until = read.refresh_claimed_until?.getTime() ?? 0;
      // A claim that was cut short is one that failed.
      if (until < claimedUntil) throw new TransientToolError(otherFailed);
      claimedUntil = until;
      await setTimeout(pauseMs);
      waitedMs += pauseMs;
    }
    throw new TransientToolError("Another worker has not finished refreshing the access token yet.");
  };

  /** The provider may have replaced the refresh token: what is not stored now is lost, and with it the consent. */
  const store = async (read: ReadGrant, tokens: OAuthTokens): Promise<boolean> => {
    const { party } = read.grant;
    const sealedGrant = sealGrant(connectionGrants, { party, tokens }, read.identity);
    for (let tries = 1; ; tries++) {
      const expiresInMs = tokens.expiresAtMs === null ? null : tokens.expiresAtMs - now();
      const refreshed = { sealedGrant, scopes: tokens.scopes, expiresInMs };
      try {
        const key = keyOf(read);
        return await db.inOrganisation(key.organisationId, (trx) => queries.updateRefreshed(trx, key, refreshed));
      } catch (error) {
        logger.warn({ err: error, connectionId: read.row.id, tries }, "refreshed tokens not stored, will retry");
        if (tries >= storeTries) throw error;
        await setTimeout(250 * 2 ** (tries - 1));
      }
    }
  };

  const fail = async (read: ReadGrant, claimedUntil: Date, error: unknown): Promise<void> => {
    const key = keyOf(read);
    const isRefused = error instanceof OAuthFailure && error.kind === "refused";
    if (isRefused && (await markNeedsReauth(deps, key, { reason: error.message, claimedUntil })))
      return telemetry.connectionRefreshed("refused");
    telemetry.connectionRefreshed("failed");
    const { issuer } = read.grant.party;
    logger.debug({ err: error, issuer, organisationId: key.organisationId }, "connection not refreshed, will retry");
    await db
      .inOrganisation(key.organisationId, (trx) => queries.shortenClaim(trx, key, claimedUntil, pauseAfterFailureMs))
      .catch((inner: unknown) => logger.debug({ err: inner, connectionId: key.id }, "claim not shortened, it ends"));
    throw isRefused ? new TransientToolError(otherFailed) : error;
  };

  const refresh = async (read: ReadGrant, refreshToken: string, claimedUntil: Date): Promise<void> => {
    const { identity, grant } = read;
    let tokens: OAuthTokens;
    try {
      tokens = await oauth.refresh(
        identity,
        grant.party,
        { refreshToken, scopes: grant.tokens.scopes },
        AbortSignal.timeout(refreshTimeoutMs),
      );
    } catch (error) {
      return fail(read, claimedUntil, error);
    }
    const isStored = await store(read, tokens);
    telemetry.connectionRefreshed("succeeded");
    // Revoked or connected again meanwhile: nobody will use these. If the provider does not answer, they end by themselves.
    if (!isStored)
      await oauth
        .revoke(identity, grant.party, tokens, AbortSignal.timeout(refreshTimeoutMs))
        .catch((error: unknown) =>
          logger.debug({ err: error, connectionId: read.row.id }, "unused tokens not revoked"),
        );
  };

  const replace = async (read: ReadGrant): Promise<void> => {
    const { refreshToken } = read.grant.tokens;
    const key = keyOf(read);
    if (refreshToken === null) return void (await markNeedsReauth(deps, key, { reason: ended }));
    const claimedUntil = await db.inOrganisation(key.organisationId, (trx) => queries.claimRefresh(trx, key, leaseMs));
    return claimedUntil ? refresh(read, refreshToken, claimedUntil) : waitForOther(read);
  };

  return (read) => {
    const { organisationId, id, generation } = keyOf(read);
    const name = `${organisationId} ${id} ${generation}`;
    const known = underWay.get(name);
    if (known) return known;
    const started = replace(read).finally(() => underWay.delete(name));
    // Whoever waits may have left.
    started.catch(() => undefined);
    underWay.set(name, started);
    return started;
  };
}
