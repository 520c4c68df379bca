import { type ScratchDatabase, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { runCommand } from "@perch/testkit/installation/server-process.ts";
import type { Core } from "../../packages/server/src/compose/core.ts";
import { type Grant, sealGrant } from "../../packages/server/src/resources/connections/seal-grant.ts";

const batch = 50_000;
/** Users whose tokens open. What is sealed for all others has the same length, and nobody looks at it. */
const openableUsers = 500;

/** An organisation with an agent whose users have connected their accounts. */
export interface Subject {
  readonly size: number;
  readonly key: string;
  readonly organisationId: string;
  readonly agentId: string;
  /** Spread over all of them; their access tokens are valid. */
  readonly users: readonly string[];
}

/** Where the accounts are, and the tool that is called with them. Nothing of it may be called. */
export interface Accounts {
  readonly issuer: string;
  readonly tool: { readonly type: "http"; readonly name: string; readonly url: string };
}

/**
 * Half of the access tokens have ended, most of them long ago; one user in fifty must consent again. `$7` is a sealed grant, in the
 * length that tokens of large providers have.
 */
const insertConnections = `
  insert into connections (organisation_id, id, agent_id, user_id, tool, status, reason, sent_to, issuer, scopes, sealed_grant,
                           generation, access_expires_at, created_at, connected_at, last_used_at, last_refreshed_at)
  select $1, uuid_at(at), $2, 'user-' || i, $3, case when i % 50 = 7 then 'needs_reauth' else 'active' end,
         case when i % 50 = 7 then 'The provider no longer accepts the consent.' end, $4, $5, '{mail.read,offline_access}', $6, 1,
         now() + case when i % 2 = 0 then interval '1 hour' else -interval '1 second' * i end, at, at, at, at
    from (select i, (now() - i * interval '1 second')::timestamptz(3) as at from generate_series($7::int, $8::int) i) rows`;

async function insertAgent(database: ScratchDatabase, name: string): Promise<Omit<Subject, "size" | "users">> {
  const key = await runCommand(database, ["create-organisation", "--name", name, "--tier", "enterprise"]);
  return withClient(database.adminUrl, async (client) => {
    const { rows } = await client.query<{ organisation_id: string; id: string }>(
      `insert into agents (id, organisation_id, name, status, definition, security)
         select uuid_at(now()), id, 'agent', 'running', '{"model": "perch/echo"}', '{}' from organisations where name = $1
         returning organisation_id, id`,
      [name],
    );
    return { key, organisationId: rows[0]?.organisation_id ?? "", agentId: rows[0]?.id ?? "" };
  });
}

const grantAt = ({ issuer, tool }: Accounts, user: string): Grant => ({
  configuration: {
    issuer,
    authorizationEndpoint: `${issuer}/authorize`,
    tokenEndpoint: `${issuer}/token`,
    revocationEndpoint: `${issuer}/revoke`,
    namesItself: true,
    authMethod: "none",
    client: { kind: "configured", clientId: "perch" },
    redirectUri: "http://127.0.0.1/oauth/callback",
    resourceIndicator: tool.url,
    scopes: ["mail.read", "offline_access"],
  },
  tokens: {
    accessToken: `access-${user}-`.padEnd(900, "a"),
    refreshToken: `refresh-${user}-`.padEnd(200, "r"),
    expiresAtMs: Date.now() + 3_600_000,
    scopes: ["mail.read", "offline_access"],
  },
});

/** Stores connections of so many users, in an organisation of its own. */
export async function storeConnections(
  database: ScratchDatabase,
  { connectionGrants }: Pick<Core["keys"], "connectionGrants">,
  accounts: Accounts,
  { name, size }: { readonly name: string; readonly size: number },
): Promise<Subject> {
  const agent = await insertAgent(database, name);
  const { organisationId, agentId } = agent;
  const { issuer, tool } = accounts;
  const { origin: sentTo } = new URL(tool.url);
  const sealFor = (userId: string) =>
    sealGrant(connectionGrants, grantAt(accounts, userId), {
      organisationId,
      agentId,
      userId,
      tool: tool.name,
      sentTo,
    });
  // Even numbers, whose tokens have not ended.
  const step = Math.max(2, Math.floor(size / openableUsers / 2) * 2);
  const users = Array.from({ length: Math.floor(size / step) }, (_, i) => `user-${(i + 1) * step}`);
  await withClient(database.adminUrl, async (client) => {
    const shared = [organisationId, agentId, tool.name, sentTo, issuer, sealFor("user-500000")];
    // They would have to begin as pending.
    await client.query("alter table connections disable trigger connections_initial");
    for (let to = size; to > 0; to -= batch) {
      const from = Math.max(to - batch, 0) + 1;
      await client.query(insertConnections, [...shared, from, to]);
      if (size > batch) console.error(`stored ${size - from + 1} of ${size} connections`);
    }
    await client.query("alter table connections enable trigger connections_initial");
    const replace = "update connections set sealed_grant = $3 where organisation_id = $1 and user_id = $2";
    for (const user of users) await client.query(replace, [organisationId, user, sealFor(user)]);
  });
  return { ...agent, size, users };
}
