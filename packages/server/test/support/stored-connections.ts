import type { ConnectionStatus } from "@perch/contract";
import { sql } from "kysely";
import type { OAuthConfiguration, OAuthTokens } from "../../src/outbound/oauth/oauth-client.ts";
import { newUuid, parsePublicId, toPublicId } from "../../src/platform/ids.ts";
import { tokenTarget } from "../../src/resources/connections/connection-rules.ts";
import { openGrant, sealGrant } from "../../src/resources/connections/seal-grant.ts";
import { ok } from "./contract-client.ts";
import type { ApiNode, Organisation } from "./harness.ts";

export interface StoredConnection {
  readonly agent?: string;
  readonly userId?: string;
  /** As in the definition. */
  readonly tool?: { readonly type: "mcp" | "http"; readonly name: string; readonly url: string };
  readonly status?: ConnectionStatus;
  readonly configuration?: Partial<OAuthConfiguration>;
  readonly tokens?: Partial<OAuthTokens>;
  /** From now on, by the database's clock. Null means that the provider named no time. */
  readonly expiresInSeconds?: number | null;
}

export const somewhere = { type: "http" as const, name: "book", url: "https://tools.example/book" };

/** A public client at a provider on this machine. */
const partyAt = (issuer: string): OAuthConfiguration => ({
  issuer,
  authorizationEndpoint: `${issuer}/auth`,
  tokenEndpoint: `${issuer}/token`,
  revocationEndpoint: `${issuer}/token/revocation`,
  namesItself: true,
  authMethod: "none",
  client: { kind: "configured", clientId: "perch" },
  redirectUri: "https://perch.example/oauth/callback/tests",
  resourceIndicator: null,
  scopes: [],
});

/** A connection as a confirmed consent leaves it, and its public id. No user consented. */
export async function insertConnection(
  { server: { core } }: ApiNode,
  organisation: Pick<Organisation, "id" | "call">,
  given: StoredConnection = {},
): Promise<string> {
  const { agent = "bot", userId = "ada", tool = somewhere, status = "active", expiresInSeconds = 3600 } = given;
  const found = ok(await organisation.call("GET /v1/agents/{agent_id}", { params: { agent_id: agent } })).data;
  const organisationId = parsePublicId("organisation", organisation.id) ?? "";
  const agentId = parsePublicId("agent", found.id) ?? "";
  const id = newUuid();
  const sentTo = tokenTarget(tool);
  const configuration = { ...partyAt(given.configuration?.issuer ?? "https://login.example"), ...given.configuration };
  const expiresAtMs = expiresInSeconds === null ? null : Date.now() + expiresInSeconds * 1000;
  const tokens = { accessToken: `access-${id}`, refreshToken: `refresh-${id}`, expiresAtMs, scopes: [] };
  const identity = { organisationId, agentId, userId, tool: tool.name, sentTo };
  const sealed = sealGrant(
    core.keys.connectionGrants,
    { configuration, tokens: { ...tokens, ...given.tokens } },
    identity,
  );
  const row = { organisation_id: organisationId, id };
  await core.db.inOrganisation(organisationId, async (trx) => {
    await trx
      .insertInto("connections")
      .values({ ...row, agent_id: agentId, user_id: userId, tool: tool.name, sent_to: sentTo })
      .execute();
    const update = (values: object) =>
      trx.updateTable("connections").set(values).where("organisation_id", "=", organisationId).where("id", "=", id);
    if (status === "pending") return;
    await update({
      status: "active",
      issuer: configuration.issuer,
      sealed_grant: sealed,
      generation: 1,
      connected_at: sql`now()`,
      access_expires_at: expiresInSeconds === null ? null : sql`now() + make_interval(secs => ${expiresInSeconds})`,
    }).execute();
    if (status === "needs_reauth") await update({ status, reason: "The provider refused it." }).execute();
    if (status === "revoked") await update({ status, revoked_at: sql`now()`, revoked_at_provider: "done" }).execute();
  });
  return toPublicId("connection", id);
}

const selectRow = async ({ server: { core } }: ApiNode, { id }: Pick<Organisation, "id">, connection: string) =>
  core.db.inOrganisation(parsePublicId("organisation", id) ?? "", (trx) =>
    trx
      .selectFrom("connections")
      .selectAll()
      .where("id", "=", parsePublicId("connection", connection) ?? "")
      .executeTakeFirstOrThrow(),
  );

/** The row as it is, with its tokens. */
export async function readConnection(node: ApiNode, organisation: Pick<Organisation, "id">, connection: string) {
  const row = await selectRow(node, organisation, connection);
  const { organisation_id: organisationId, agent_id: agentId, user_id: userId, tool, sent_to: sentTo } = row;
  const identity = { organisationId, agentId, userId, tool, sentTo };
  const grant = row.sealed_grant && openGrant(node.server.core.keys.connectionGrants, row.sealed_grant, identity);
  return { ...row, grant };
}

/** As if the access token had been issued that much earlier. If negative, it has expired. */
export async function setAccessExpiry(
  { server: { core } }: ApiNode,
  { id }: Pick<Organisation, "id">,
  connection: string,
  inSeconds: number,
): Promise<void> {
  await core.db.inOrganisation(parsePublicId("organisation", id) ?? "", (trx) =>
    trx
      .updateTable("connections")
      .set({ access_expires_at: sql`now() + make_interval(secs => ${inSeconds})`, last_refreshed_at: null })
      .where("id", "=", parsePublicId("connection", connection) ?? "")
      .execute(),
  );
}

/** Workers claim a refresh for a minute: tests of one that dies wait for less. */
export async function setClaimEnd(
  { server: { core } }: ApiNode,
  { id }: Pick<Organisation, "id">,
  connection: string,
  endsAt: Date,
): Promise<void> {
  await core.db.inOrganisation(parsePublicId("organisation", id) ?? "", (trx) =>
    trx
      .updateTable("connections")
      .set({ refresh_claimed_until: endsAt })
      .where("id", "=", parsePublicId("connection", connection) ?? "")
      .where("refresh_claimed_until", "is not", null)
      .execute(),
  );
}
