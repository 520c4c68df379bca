import { setTimeout } from "node:timers/promises";
import type { Database } from "../../db/database.ts";
import { createOnceAMinute } from "../../fairness/once-a-minute.ts";
import type { OAuthClient, OAuthTokens } from "../../outbound/oauth/oauth-client.ts";
import { OAuthFailure } from "../../outbound/oauth/oauth-failure.ts";
import { TransientToolError } from "../../outbound/tools/tool-errors.ts";
import type { Logger } from "../../platform/logger.ts";
import type { Sealer } from "../../platform/sealing.ts";
import type { ConnectionMetrics } from "./connection-metrics.ts";
import { markNeedsReauth } from "./needs-reauth.ts";
import { type ConnectionIdentity, type Grant, sealGrant } from "./seal-grant.ts";
import * as queries from "./token-queries.ts";
import { isClaimed } from "./token-rules.ts";

interface RefreshGrantDeps {
  readonly db: Pick<Database, "inOrganisation" | "onBehalfOf">;
  readonly connectionGrants: Sealer;
  readonly oauth: Pick<OAuthClient, "refresh" | "revoke">;
  readonly dispatchDeliveries: () => void;
  readonly telemetry: Pick<ConnectionMetrics, "connectionRefreshed">;
  readonly logger: Logger;
  readonly now: () => number;
}

/** A grant as it was read, and its owner. */
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

/** A worker that stood still for longer since its claim sends nothing: another may use the refresh token soon, which counts once. */
const sendWithinMs = 10_000;
const refreshTimeoutMs = 10_000;
/** Between tries, each of which may wait five seconds for the organisation's share of the database. */
const storePausesMs = [250, 500, 1000, 2000];
/**
 * Longer than all of it: 10 s until it is sent, 10 s for the answer, 29 s to store that, and then some for slow statements. A worker that
 * dies in it keeps others waiting for so long, if the token has expired.
 */
const leaseMs = 60_000;
/** So that a provider that is down is asked once in so long, and not by each run. */
const pauseAfterFailureMs = 2000;
const maxWaitMs = 25_000;

const keyOf = ({ identity, row }: ReadGrant): queries.GrantKey => ({
  organisationId: identity.organisationId,
  id: row.id,
  generation: row.generation,
});

interface Claim {
  readonly until: Date;
  readonly startedAtMs: number;
}

/** `to revoke`: for housekeeping, which asks the provider of a revoked connection. `unused`: nowhere. */
type StoredAs = "refreshed" | "to revoke" | "unused";

const tooLate = "This worker took too long to ask for a new access token.";
const ended = "The access token has expired or is refused, and the provider gave nothing to renew it with.";
const otherFailed = "Another worker could not refresh the access token.";

export function createRefreshGrant(deps: RefreshGrantDeps): RefreshGrant {
  const { db, connectionGrants, oauth, telemetry, logger, now } = deps;
  /** By tokens: runs of one process ask once, and look into the database once for all of them. */
  const underWay = new Map<string, Promise<void>>();
  const isWarned = createOnceAMinute(now);

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

  /**
   * The provider may have replaced the refresh token. If the new one is not stored now, it is lost, and with it the
   * consent.
   */
  const store = async (read: ReadGrant, tokens: OAuthTokens): Promise<StoredAs> => {
    const { configuration } = read.grant;
    const sealedGrant = sealGrant(connectionGrants, { configuration, tokens }, read.identity);
    const key = keyOf(read);
    for (let tries = 0; ; tries++) {
      const expiresInMs = tokens.expiresAtMs === null ? null : tokens.expiresAtMs - now();
      const refreshed = { sealedGrant, scopes: tokens.scopes, expiresInMs };
      try {
        return await db.inOrganisation(key.organisationId, async (trx) => {
          if (await queries.updateRefreshed(trx, key, refreshed)) return "refreshed";
          return (await queries.updateRevokedGrant(trx, key, sealedGrant)) ? "to revoke" : "unused";
        });
      } catch (error) {
        logger.warn({ err: error, connectionId: read.row.id, tries }, "refreshed tokens not stored, will retry");
        const pauseMs = storePausesMs[tries];
        if (pauseMs === undefined) throw error;
        await setTimeout(pauseMs);
      }
    }
  };

  const fail = async (read: ReadGrant, claimedUntil: Date, error: unknown): Promise<void> => {
    const key = keyOf(read);
    const isRefused = error instanceof OAuthFailure && error.kind === "refused";
    if (isRefused && (await markNeedsReauth(deps, key, { reason: error.message, claimedUntil })))
      return telemetry.connectionRefreshed("refused");
    telemetry.connectionRefreshed("failed");
    const { issuer } = read.grant.configuration;
    logger[isWarned(issuer) ? "warn" : "debug"](
      { err: error, issuer, organisationId: key.organisationId },
      "connection not refreshed, will retry",
    );
    await db
      .inOrganisation(key.organisationId, (trx) => queries.shortenClaim(trx, key, claimedUntil, pauseAfterFailureMs))
      .catch((inner: unknown) => logger.debug({ err: inner, connectionId: key.id }, "claim not shortened, it ends"));
    throw isRefused ? new TransientToolError(otherFailed) : error;
  };

  /**
   * Revokes tokens of a connection that was erased or connected again in the meantime, which stay unused. At some
   * providers, revoking them ends all tokens of the same user and client, so those that replaced them at the same
   * provider take precedence. Tokens that are not revoked expire.
   */
  const revokeUnused = async (
    { identity, row, grant: { configuration } }: ReadGrant,
    tokens: OAuthTokens,
  ): Promise<void> => {
    try {
      const { organisationId } = identity;
      const found = await db.onBehalfOf(organisationId, (one) => queries.findUsableConnection(one, identity));
      if (found?.status === "active" && found.issuer === configuration.issuer) return;
      await oauth.revoke(identity, configuration, tokens, AbortSignal.timeout(refreshTimeoutMs));
    } catch (error) {
      logger.debug({ err: error, connectionId: row.id }, "unused tokens not revoked");
    }
  };

  const refresh = async (read: ReadGrant, refreshToken: string, claim: Claim): Promise<void> => {
    const { identity, grant } = read;
    const startSending = (): AbortSignal => {
      if (now() - claim.startedAtMs > sendWithinMs) throw new OAuthFailure("unavailable", tooLate);
      return AbortSignal.timeout(refreshTimeoutMs);
    };
    let tokens: OAuthTokens;
    try {
      const previous = { refreshToken, scopes: grant.tokens.scopes };
      tokens = await oauth.refresh(identity, grant.configuration, previous, startSending);
    } catch (error) {
      return fail(read, claim.until, error);
    }
    const storedAs = await store(read, tokens);
    telemetry.connectionRefreshed("succeeded");
    if (storedAs === "unused") await revokeUnused(read, tokens);
  };

  const replace = async (read: ReadGrant): Promise<void> => {
    const { refreshToken } = read.grant.tokens;
    const key = keyOf(read);
    if (refreshToken === null) return void (await markNeedsReauth(deps, key, { reason: ended }));
    // Before the statement: the claim begins no earlier.
    const startedAtMs = now();
    const until = await db.inOrganisation(key.organisationId, (trx) => queries.claimRefresh(trx, key, leaseMs));
    return until ? refresh(read, refreshToken, { until, startedAtMs }) : waitForOther(read);
  };

  return (read) => {
    const { organisationId, id, generation } = keyOf(read);
    const name = `${organisationId} ${id} ${generation}`;
    const known = underWay.get(name);
    if (known) return known;
    const started = replace(read).finally(() => underWay.delete(name));
    // Callers may have stopped waiting, and then the failure must not be unhandled.
    started.catch(() => undefined);
    underWay.set(name, started);
    return started;
  };
}
