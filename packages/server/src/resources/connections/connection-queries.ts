import type { ConnectionQuery } from "@perch/contract";
import { type RawBuilder, sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";
import { scanInOrder } from "../../db/scan-in-order.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { newUuid } from "../../platform/ids.ts";
import type { ConnectionRow, ShownConnection } from "./to-connection.ts";

/** One connection of an agent; only of one user, if the caller is that user. */
export interface ConnectionRef extends AgentKey {
  readonly id: string;
  readonly onlyUserId?: string | undefined;
}

const selectConnection = (trx: OrganisationTransaction, { organisationId, agentId, id, onlyUserId }: ConnectionRef) => {
  const found = trx
    .selectFrom("connections")
    .selectAll()
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .where("agent_id", "=", agentId);
  return onlyUserId === undefined ? found : found.where("user_id", "=", onlyUserId);
};

export const findConnection = (trx: OrganisationTransaction, ref: ConnectionRef): Promise<ConnectionRow | undefined> =>
  selectConnection(trx, ref).executeTakeFirst();

export const findConnectionForUpdate = (
  trx: OrganisationTransaction,
  ref: ConnectionRef,
): Promise<ConnectionRow | undefined> => selectConnection(trx, ref).forUpdate().executeTakeFirst();

/**
 * The owner of the account, the tool, and the address that its tokens go to. There is one connection for each
 * combination.
 */
export interface ConnectionOwner extends AgentKey {
  readonly userId: string;
  readonly tool: string;
  readonly sentTo: string;
}

export const findOwnedConnectionForUpdate = (
  trx: OrganisationTransaction,
  { organisationId, agentId, userId, tool, sentTo }: ConnectionOwner,
): Promise<ConnectionRow | undefined> =>
  trx
    .selectFrom("connections")
    .selectAll()
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .where("user_id", "=", userId)
    .where("tool", "=", tool)
    .where("sent_to", "=", sentTo)
    .forUpdate()
    .executeTakeFirst();

/** The agent is locked, so the same connection is not created twice at the same time. */
export const insertConnection = (
  trx: OrganisationTransaction,
  { organisationId, agentId, userId, tool, sentTo }: ConnectionOwner,
): Promise<ConnectionRow> =>
  trx
    .insertInto("connections")
    .values({
      organisation_id: organisationId,
      id: newUuid(),
      agent_id: agentId,
      user_id: userId,
      tool,
      sent_to: sentTo,
    })
    .returningAll()
    .executeTakeFirstOrThrow();

export type ConnectionChange = Partial<
  Pick<
    ConnectionRow,
    | "status"
    | "reason"
    | "issuer"
    | "scopes"
    | "sealed_grant"
    | "confirmed_digest"
    | "generation"
    | "revoked_at_provider"
  >
> & { readonly access_expires_at?: RawBuilder<Date> | null };

/** By the database's clock, the only one that decides about ends. */
export const endIn = (ms: number | null): RawBuilder<Date> | null =>
  ms === null ? null : sql<Date>`clock_timestamp() + make_interval(secs => ${ms / 1000})`;

/** Columns that are written with the database's clock. */
const timesOf = {
  confirm: { connected_at: sql<Date>`now()`, last_refreshed_at: null, refresh_claimed_until: null },
  revoke: { revoked_at: sql<Date>`now()`, refresh_claimed_until: null },
  reopen: { revoked_at: null },
} as const;

export const updateConnection = (
  trx: OrganisationTransaction,
  { organisation_id, id }: Pick<ConnectionRow, "organisation_id" | "id">,
  event: keyof typeof timesOf,
  change: ConnectionChange,
): Promise<ConnectionRow> =>
  trx
    .updateTable("connections")
    .set({ ...change, ...timesOf[event] })
    .where("organisation_id", "=", organisation_id)
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();

/** About 10 ms. */
export const maxReadConnections = 2000;

/** A connection that runs of a definition look for. */
export interface WantedConnection {
  readonly tool: string;
  readonly sentTo: string;
  /** Undefined: of whatever issuer. */
  readonly issuer: string | undefined;
}

export interface ConnectionFilter extends Omit<ConnectionQuery, "cursor" | "limit" | "environment"> {
  readonly agent: AgentKey;
  /** Only the connections that match one of these. */
  readonly wanted?: readonly WantedConnection[] | undefined;
}

/** One without an issuer was never confirmed: the next consent decides. */
const isWanted = (wanted: readonly WantedConnection[]): RawBuilder<boolean> =>
  sql`exists (select from unnest(${wanted.map(({ tool }) => tool)}::text[], ${wanted.map(({ sentTo }) => sentTo)}::text[],
                                 ${wanted.map(({ issuer }) => issuer ?? null)}::text[]) w (tool, sent_to, issuer)
                where w.tool = r.tool and w.sent_to = r.sent_to
                  and (w.issuer is null or r.issuer is null or w.issuer = r.issuer))`;

type ListedRow = ShownConnection & { readonly agent_name: string };

const columns = sql.join(
  [
    ...["organisation_id", "id", "agent_id", "user_id", "tool", "sent_to", "status", "reason", "issuer", "scopes"],
    ...["created_at", "connected_at", "last_used_at", "last_refreshed_at", "access_expires_at"],
    ...["refresh_claimed_until", "revoked_at", "revoked_at_provider"],
  ].map((column) => sql.ref(column)),
);

/** By the columns of an index: the user, or the agent. */
const selectInOrder = ({ agent, user_id }: ConnectionFilter, before: string | undefined): RawBuilder<unknown> => {
  const conditions = [
    sql`organisation_id = ${agent.organisationId}`,
    user_id === undefined ? sql`agent_id = ${agent.agentId}` : sql`user_id = ${user_id}`,
    ...(before === undefined ? [] : [sql`id < ${before}::uuid`]),
  ];
  return sql`select ${columns} from connections where ${sql.join(conditions, sql` and `)}`;
};

/** Newest first. `end` is the id after which the next page begins; undefined on the last page. */
export async function listConnections(
  trx: OrganisationTransaction,
  filter: ConnectionFilter,
  { limit, before }: { readonly limit: number; readonly before: string | undefined },
): Promise<{ readonly rows: readonly ShownConnection[]; readonly end: string | undefined }> {
  const { tool, status, wanted } = filter;
  const { rows, isFull, stoppedAt } = await scanInOrder<ListedRow>(trx, {
    scope: { onlyAgentId: filter.agent.agentId },
    select: selectInOrder(filter, before),
    order: sql`id desc`,
    matches: [
      ...(tool === undefined ? [] : [sql<boolean>`tool = ${tool}`]),
      ...(status === undefined ? [] : [sql<boolean>`status = ${status}`]),
      ...(wanted === undefined ? [] : [isWanted(wanted)]),
    ],
    limit,
    maxRead: maxReadConnections,
  });
  return { rows, end: isFull ? rows.at(-1)?.id : stoppedAt?.id };
}
