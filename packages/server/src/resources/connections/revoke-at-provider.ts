import type { RevocationResult } from "@perch/contract";
import { actFor } from "../../fairness/acting-organisation.ts";
import type { OAuthClient } from "../../outbound/oauth/oauth-client.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import type { Sealer } from "../../platform/sealing.ts";
import { openGrant } from "./seal-grant.ts";
import type { ConnectionRow } from "./to-connection.ts";

export type GrantedConnection = Pick<
  ConnectionRow,
  "organisation_id" | "id" | "agent_id" | "user_id" | "tool" | "sent_to" | "issuer" | "sealed_grant" | "generation"
>;

interface RevokeDeps {
  readonly oauth: Pick<OAuthClient, "revoke">;
  readonly connectionGrants: Sealer;
  readonly logger: Logger;
}

/** The provider's answer. `failed`: none that counts, so it may be asked again. Never throws. */
export type RevokeAtProvider = (
  row: GrantedConnection,
  timeoutMs: number,
) => Promise<Exclude<RevocationResult, "pending">>;

/** Asks the provider to revoke the tokens of a connection that was given up. It changes nothing in the database. */
export const createRevokeAtProvider =
  ({ oauth, connectionGrants, logger }: RevokeDeps): RevokeAtProvider =>
  async (row, timeoutMs) => {
    const { organisation_id: organisationId, agent_id: agentId, sealed_grant } = row;
    if (sealed_grant === null) return "not_offered";
    try {
      const identity = { organisationId, agentId, userId: row.user_id, tool: row.tool, sentTo: row.sent_to };
      const { configuration, tokens } = openGrant(connectionGrants, sealed_grant, identity);
      const signal = AbortSignal.timeout(timeoutMs);
      return await actFor(organisationId, () =>
        oauth.revoke({ organisationId, agentId }, configuration, tokens, signal),
      );
    } catch (error) {
      const connectionId = toPublicId("connection", row.id);
      logger.warn({ err: error, organisationId, connectionId }, "provider did not revoke a connection");
      return "failed";
    }
  };
