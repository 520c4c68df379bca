import type { OAuthConfiguration, OAuthTokens } from "../../outbound/oauth/oauth-client.ts";
import type { Sealer } from "../../platform/sealing.ts";
import type { ConnectionRow } from "./to-connection.ts";

/** The owner of the account, and the only address that its tokens are sent to. */
export interface ConnectionIdentity {
  readonly organisationId: string;
  readonly agentId: string;
  readonly userId: string;
  readonly tool: string;
  /** `sent_to` of the row. */
  readonly sentTo: string;
}

type GrantedRow = Pick<
  ConnectionRow,
  "organisation_id" | "agent_id" | "user_id" | "tool" | "sent_to" | "issuer" | "sealed_grant"
>;

/** The result of a consent, and the server that gives more tokens for it. */
export interface Grant {
  readonly configuration: OAuthConfiguration;
  readonly tokens: OAuthTokens;
}

/**
 * Binds the grant to its owner. A writer of the table without the key cannot give an account to another user or server.
 */
const associatedDataFor = ({ organisationId, agentId, userId, tool, sentTo }: ConnectionIdentity): string =>
  JSON.stringify(["grant", organisationId, agentId, userId, tool, sentTo]);

export const sealGrant = (sealer: Sealer, grant: Grant, identity: ConnectionIdentity): Buffer =>
  sealer.seal(JSON.stringify(grant), associatedDataFor(identity));

/** Throws if the row was changed in the database. */
export const openGrant = (sealer: Sealer, sealed: Buffer, identity: ConnectionIdentity): Grant =>
  JSON.parse(sealer.open(sealed, associatedDataFor(identity))) as Grant;

/** Whether the tokens of a row came from this server for this client. False if they cannot be opened. */
export function isOfSameClient(sealer: Sealer, row: GrantedRow, { issuer, client }: OAuthConfiguration): boolean {
  if (row.sealed_grant === null || row.issuer !== issuer) return false;
  const { organisation_id: organisationId, agent_id: agentId, user_id: userId, tool, sent_to: sentTo } = row;
  try {
    const { configuration } = openGrant(sealer, row.sealed_grant, { organisationId, agentId, userId, tool, sentTo });
    return configuration.client.clientId === client.clientId;
  } catch {
    return false;
  }
}
