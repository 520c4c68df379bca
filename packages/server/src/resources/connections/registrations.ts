import { sql } from "kysely";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import type { OAuthConfiguration, OAuthRegistration, Registrations } from "../../outbound/oauth/oauth-client.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import type { Sealer } from "../../platform/sealing.ts";

interface RegistrationDeps {
  readonly db: Pick<Database, "inOrganisation">;
  readonly connectionGrants: Sealer;
}

/** How many an agent keeps. Tokens have a copy of theirs, so the oldest can go. */
export const maxRegistrations = 64;

const expiryOf = (registration: OAuthRegistration): Date | null =>
  registration.kind === "registered" && registration.expiresAtMs !== null ? new Date(registration.expiresAtMs) : null;

async function upsertRegistration(
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
  row: {
    readonly issuer: string;
    readonly redirect_uri: string;
    readonly sealed_client: Buffer;
    readonly expires_at: Date | null;
  },
): Promise<void> {
  const { sealed_client, expires_at } = row;
  await trx
    .insertInto("oauth_clients")
    .values({ organisation_id: organisationId, agent_id: agentId, ...row })
    .onConflict((conflict) =>
      conflict
        .columns(["organisation_id", "agent_id", "issuer", "redirect_uri"])
        .doUpdateSet({ sealed_client, expires_at, created_at: sql`now()` }),
    )
    .execute();
}

async function deleteOldest(trx: OrganisationTransaction, { organisationId, agentId }: AgentKey): Promise<void> {
  await sql`
    delete from oauth_clients where (organisation_id, agent_id, issuer, redirect_uri) in (
      select organisation_id, agent_id, issuer, redirect_uri from oauth_clients
        where organisation_id = ${organisationId} and agent_id = ${agentId}
        order by created_at desc, issuer offset ${maxRegistrations})`.execute(trx);
}

/** For a server that does not know its client any more: the next consent begins with a new one. Other clients are not kept here. */
export async function deleteRegistration(
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
  { issuer, redirectUri }: Pick<OAuthConfiguration, "issuer" | "redirectUri">,
): Promise<void> {
  await trx
    .deleteFrom("oauth_clients")
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .where("issuer", "=", issuer)
    .where("redirect_uri", "=", redirectUri)
    .execute();
}

/** The clients that Perch registered for an agent, if a server offers nothing else: one at each server. */
export const createRegistrations =
  ({ db, connectionGrants }: RegistrationDeps) =>
  (agent: AgentKey): Registrations => {
    const { organisationId, agentId } = agent;
    const associatedDataFor = (issuer: string, redirectUri: string): string =>
      JSON.stringify(["client", organisationId, agentId, issuer, redirectUri]);
    return {
      find: async (issuer, redirectUri) => {
        const row = await db.inOrganisation(organisationId, (trx) =>
          trx
            .selectFrom("oauth_clients")
            .select("sealed_client")
            .where("organisation_id", "=", organisationId)
            .where("agent_id", "=", agentId)
            .where("issuer", "=", issuer)
            .where("redirect_uri", "=", redirectUri)
            .where((where) => where.or([where("expires_at", "is", null), where("expires_at", ">", sql<Date>`now()`)]))
            .executeTakeFirst(),
        );
        if (!row) return undefined;
        return JSON.parse(
          connectionGrants.open(row.sealed_client, associatedDataFor(issuer, redirectUri)),
        ) as OAuthRegistration;
      },
      save: (issuer, redirect_uri, registration) =>
        db.inOrganisation(organisationId, async (trx) => {
          const sealed_client = connectionGrants.seal(
            JSON.stringify(registration),
            associatedDataFor(issuer, redirect_uri),
          );
          const expires_at = expiryOf(registration);
          await upsertRegistration(trx, agent, { issuer, redirect_uri, sealed_client, expires_at });
          await deleteOldest(trx, agent);
        }),
    };
  };
