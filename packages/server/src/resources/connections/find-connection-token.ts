import type { Database } from "../../db/database.ts";
import { OAuthFailure } from "../../outbound/oauth/oauth-failure.ts";
import {
  type ConnectedTool,
  type FindToken,
  NotConnectedError,
  type ToolToken,
  type ToolUser,
} from "../../outbound/tools/find-token.ts";
import { PermanentToolError, TransientToolError } from "../../outbound/tools/tool-errors.ts";
import { waitUntilAborted } from "../../outbound/wait-until-aborted.ts";
import type { Logger } from "../../platform/logger.ts";
import type { Sealer } from "../../platform/sealing.ts";
import { tokenTarget } from "./connection-rules.ts";
import type { ReadGrant, RefreshGrant } from "./refresh-grant.ts";
import { type ConnectionIdentity, openGrant } from "./seal-grant.ts";
import {
  findUsableConnection,
  isConnectedElsewhere,
  type UsableConnection,
  updateLastUsedAt,
} from "./token-queries.ts";
import { chooseNext, mayBeSent } from "./token-rules.ts";

interface FindTokenDeps {
  readonly db: Pick<Database, "inOrganisation" | "onBehalfOf">;
  readonly connectionGrants: Sealer;
  readonly refreshGrant: RefreshGrant;
  /** For tools that are called with the agent's own account. */
  readonly findAgentToken: FindToken;
  readonly logger: Logger;
}

/** How much `last_used_at` may be out of date. */
const useIsCurrentMs = 60_000;
/** How often a row is read again after its tokens were replaced, before the call is left to a retry. */
const maxReads = 5;

function identify(user: ToolUser, tool: ConnectedTool): ConnectionIdentity {
  const { organisationId, agentId, userId } = user;
  if (userId === null || agentId === null) throw new NotConnectedError("no user", { tool: tool.name, agentId });
  return { organisationId, agentId, userId, tool: tool.name, sentTo: tokenTarget(tool) };
}

/** Throws unless there is a consent for the address that the definition names now. */
function requireConsent(
  row: UsableConnection | undefined,
  { tool, agentId }: ConnectionIdentity,
  { connection }: ConnectedTool,
): UsableConnection & { readonly sealed_grant: Buffer } {
  if (!row || row.status === "pending" || row.status === "revoked")
    throw new NotConnectedError("not yet", { tool, agentId });
  if (row.status !== "active")
    throw new NotConnectedError("again", { tool, agentId, ...(row.reason !== null && { reason: row.reason }) });
  if (row.sealed_grant === null || (connection.issuer !== undefined && connection.issuer !== row.issuer)) {
    const reason = "The tool's definition names another authorization server than when the user consented.";
    throw new NotConnectedError("again", { tool, agentId, reason });
  }
  return { ...row, sealed_grant: row.sealed_grant };
}

/** Nothing of the tool failed: its account could not be used. */
function toToolError(error: unknown, { name }: ConnectedTool): unknown {
  if (error instanceof TransientToolError)
    return new TransientToolError(`The tool ${name} was not called. ${error.message}`, { cause: error });
  if (!(error instanceof OAuthFailure)) return error;
  const Failure = error.kind === "unavailable" ? TransientToolError : PermanentToolError;
  return new Failure(`The tool ${name} was not called. ${error.message}`, { cause: error });
}

const late = "Its provider has not given a new access token in time.";

/** The error for a caller that no longer waits for a refresh. */
const toAbortError = ({ reason }: AbortSignal): unknown =>
  reason instanceof Error && reason.name === "TimeoutError" ? new TransientToolError(late, { cause: reason }) : reason;

/** The tokens of users are read for every call: a revoked connection is not used by the next call, on any worker. */
export function createFindToken(deps: FindTokenDeps): FindToken {
  const { db, connectionGrants, refreshGrant, findAgentToken, logger } = deps;

  /** A user who sees an account connected would not understand that it is not. */
  const requireNotMoved = async (identity: ConnectionIdentity): Promise<void> => {
    if (await db.inOrganisation(identity.organisationId, (trx) => isConnectedElsewhere(trx, identity)))
      throw new NotConnectedError("moved", identity);
  };

  const read = async (identity: ConnectionIdentity, tool: ConnectedTool): Promise<ReadGrant> => {
    const { organisationId } = identity;
    const found = await db.onBehalfOf(organisationId, (one) => findUsableConnection(one, identity));
    if (!found || found.status === "pending") await requireNotMoved(identity);
    const row = requireConsent(found, identity, tool);
    try {
      return { identity, row, grant: openGrant(connectionGrants, row.sealed_grant, identity) };
    } catch (error) {
      // The row was changed in the database, so its account may belong to another user.
      logger.error(
        { err: error, organisationId, connectionId: row.id },
        "connection cannot be opened, connect it again",
      );
      throw new NotConnectedError("again", identity);
    }
  };

  const recordUse = async ({ identity: { organisationId }, row }: ReadGrant): Promise<void> => {
    const { id, last_used_at: usedAt, read_at: readAt } = row;
    if (usedAt !== null && readAt.getTime() - usedAt.getTime() < useIsCurrentMs) return;
    try {
      const key = { organisationId, id };
      await db.inOrganisation(organisationId, (trx) => updateLastUsedAt(trx, key, useIsCurrentMs));
    } catch (error) {
      logger.debug({ err: error, organisationId }, "last use of a connection not written, the next use will be");
    }
  };

  const toToken = (found: ReadGrant): ToolToken => {
    void recordUse(found);
    return { value: found.grant.tokens.accessToken, generation: found.row.generation };
  };

  return async (user, tool, { rejected, signal }) => {
    if (tool.connection.account === "agent")
      return findAgentToken(user, tool, { signal, ...(rejected && { rejected }) }).catch((error: unknown) => {
        throw toToolError(error, tool);
      });
    const identity = identify(user, tool);
    const rejectedGeneration = rejected?.generation;
    for (let reads = 0; reads < maxReads; reads++) {
      const found = await read(identity, tool);
      const { row, grant } = found;
      const canRefresh = grant.tokens.refreshToken !== null;
      if (chooseNext(row, { rejectedGeneration, canRefresh }) === "use") return toToken(found);
      try {
        if (signal.aborted) throw toAbortError(signal);
        await waitUntilAborted(refreshGrant(found), signal, toAbortError);
      } catch (error) {
        if (signal.aborted) throw toToolError(error, tool);
        // Read again: it may have been revoked or replaced in the meantime.
        const again = await read(identity, tool);
        if (again.row.id !== row.id || again.row.generation !== row.generation) continue;
        if (mayBeSent(again.row, rejectedGeneration)) return toToken(again);
        throw toToolError(error, tool);
      }
    }
    throw new TransientToolError(`The tool ${tool.name} was not called. Its access token is being refreshed.`);
  };
}
