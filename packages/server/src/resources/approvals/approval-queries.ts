import type { ApprovalQuery, Decider } from "@perch/contract";
import { type RawBuilder, type Selectable, sql } from "kysely";
import type { Scope } from "../../auth/caller.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { Approvals } from "../../db/generated-rows.ts";
import { ofVisibleAgent, type VisibleAgents } from "../../db/of-visible-agent.ts";
import { ofVisibleUser, type VisibleUsers } from "../../db/of-visible-user.ts";
import { scanInOrder } from "../../db/scan-in-order.ts";

export type ApprovalRow = Selectable<Approvals> & { readonly agent_name: string };
/** Without the sealed columns, which a list does not show. */
export type ApprovalSummaryRow = Omit<ApprovalRow, "sealed_call" | "sealed_decision">;

/** An approval, and the agents that the caller may see: all of the organisation's, if they are left out. */
export interface VisibleApproval extends Partial<VisibleAgents>, VisibleUsers {
  readonly organisationId: string;
  readonly id: string;
}

const selectApproval = (
  trx: OrganisationTransaction,
  { organisationId, id, onlyAgentId = null, hiddenAgentIds = [], ...users }: VisibleApproval,
) =>
  trx
    .selectFrom("approvals")
    .innerJoin("agents", (join) =>
      join
        .onRef("agents.organisation_id", "=", "approvals.organisation_id")
        .onRef("agents.id", "=", "approvals.agent_id")
        .on("agents.deleted_at", "is", null),
    )
    .selectAll("approvals")
    .select("agents.name as agent_name")
    .where("approvals.organisation_id", "=", organisationId)
    .where("approvals.id", "=", id)
    .where(ofVisibleAgent({ onlyAgentId, hiddenAgentIds }))
    .where(ofVisibleUser(users));

/** Not of a deleted agent, and not of one that the caller cannot see. */
export const findApproval = (
  trx: OrganisationTransaction,
  approval: VisibleApproval,
): Promise<ApprovalRow | undefined> => selectApproval(trx, approval).executeTakeFirst();

/** With the database's clock, which decides whether it has expired. */
export const findApprovalForUpdate = (
  trx: OrganisationTransaction,
  approval: VisibleApproval,
): Promise<(ApprovalRow & { readonly now: Date }) | undefined> =>
  selectApproval(trx, approval).select(sql<Date>`now()`.as("now")).forUpdate("approvals").executeTakeFirst();

/** A vote for these arguments. */
export interface Vote {
  /** The voter as `identityOf` names it. Null for the holder of a link. */
  readonly voter: string | null;
  readonly by: Decider;
  readonly at: string;
}

export interface ApprovalChange
  extends Partial<Pick<ApprovalRow, "status" | "digest" | "edited" | "decided_at" | "sealed_decision">> {
  readonly votes?: readonly Vote[];
  readonly decided_by?: Decider;
}

export async function updateApproval(
  trx: OrganisationTransaction,
  { organisationId, id }: Pick<VisibleApproval, "organisationId" | "id">,
  { votes, decided_by, ...columns }: ApprovalChange,
): Promise<Selectable<Approvals>> {
  return trx
    .updateTable("approvals")
    .set({
      ...columns,
      ...(votes && { votes: JSON.stringify(votes) }),
      ...(decided_by && { decided_by: JSON.stringify(decided_by) }),
    })
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export interface ApprovalFilter extends Omit<ApprovalQuery, "agent_id" | "request_id" | "cursor" | "limit"> {
  readonly agentId?: string | undefined;
  readonly runId?: string | undefined;
}

/** About 10 ms. */
export const maxReadApprovals = 2000;

const columns = sql.join(
  [
    ...[
      "organisation_id",
      "id",
      "agent_id",
      "run_id",
      "cut",
      "step",
      "call",
      "kind",
      "tool",
      "why",
      "digest",
      "status",
    ],
    ...[
      "environment",
      "version",
      "user_id",
      "session_id",
      "invoker",
      "invoker_may_decide",
      "approvers",
      "second_factor",
    ],
    ...["votes", "decided_by", "edited", "created_at", "expires_at", "decided_at"],
  ].map((column) => sql.ref(column)),
);

const isOpen = sql<boolean>`status = 'open'`;

/** By the columns of an index: the organisation, or the agent, and whether it is open. A run has few. */
const selectInOrder = (
  { organisationId, onlyAgentId }: Scope,
  { status, agentId: named, runId, expires_within_seconds }: ApprovalFilter,
  before: string | undefined,
  selected: RawBuilder<unknown> = columns,
): RawBuilder<unknown> => {
  const agentId = onlyAgentId ?? named;
  const conditions = [
    sql`organisation_id = ${organisationId}`,
    ...(agentId === undefined ? [] : [sql`agent_id = ${agentId}`]),
    ...(runId === undefined ? [] : [sql`run_id = ${runId}`]),
    ...(status === "open" || expires_within_seconds !== undefined ? [isOpen] : []),
    ...(before === undefined ? [] : [sql`id < ${before}::uuid`]),
  ];
  return sql`select ${selected} from approvals where ${sql.join(conditions, sql` and `)}`;
};

/** Conditions that no index has: compared in each row that is read. */
const matchesOf = (
  scope: Scope,
  { status, kind, tool, user_id, session_id, expires_within_seconds }: ApprovalFilter,
) => [
  ofVisibleUser(scope),
  ...Object.entries({ status, kind, tool, user_id, session_id }).flatMap(([column, value]) =>
    value === undefined ? [] : [sql<boolean>`${sql.ref(column)} = ${value}`],
  ),
  ...(expires_within_seconds === undefined
    ? []
    : [sql<boolean>`expires_at <= now() + make_interval(secs => ${expires_within_seconds})`]),
];

/** Newest first. `end` is the id after which the next page begins; undefined on the last page. */
export async function listApprovals(
  trx: OrganisationTransaction,
  scope: Scope,
  filter: ApprovalFilter,
  { limit, before }: { readonly limit: number; readonly before: string | undefined },
): Promise<{ readonly rows: readonly ApprovalSummaryRow[]; readonly end: string | undefined }> {
  const { rows, isFull, stoppedAt } = await scanInOrder<ApprovalSummaryRow>(trx, {
    scope,
    select: selectInOrder(scope, filter, before),
    order: sql`id desc`,
    matches: matchesOf(scope, filter),
    limit,
    maxRead: maxReadApprovals,
  });
  return { rows, end: isFull ? rows.at(-1)?.id : stoppedAt?.id };
}

interface OpenCount {
  readonly count: number;
  /** Whether there may be more: not all were read. */
  readonly hasMore: boolean;
}

/** Further ones are not read. */
const maxCountedOpen = 1000;

/** Open ones that the caller sees, of the organisation or of one agent, among the newest. */
export async function countOpenApprovals(
  trx: OrganisationTransaction,
  scope: Scope,
  agentId: string | undefined,
): Promise<OpenCount> {
  const inIndex = sql`organisation_id, agent_id`;
  const ofUser = ofVisibleUser(scope);
  const open = sql`${selectInOrder(scope, { status: "open", agentId }, undefined, inIndex)} and ${ofUser}`;
  const { rows } = await sql<{ count: number; read_rows: number }>`
    select coalesce(sum(r.open) filter (where ${ofVisibleAgent(scope)} and (
               select a.deleted_at is null from agents a where a.organisation_id = r.organisation_id and a.id = r.agent_id)), 0)::int as count,
           coalesce(sum(r.open), 0)::int as read_rows
      from (select organisation_id, agent_id, count(*) as open from (${open} order by id desc limit ${maxCountedOpen + 1}) o
              group by organisation_id, agent_id) r`.execute(trx);
  const { count, read_rows } = rows[0] ?? { count: 0, read_rows: 0 };
  return { count: Math.min(count, maxCountedOpen), hasMore: read_rows > maxCountedOpen };
}

/**
 * The message that started a run, and the run's stored state while it waits; no message if the run's record is gone.
 */
export async function findAskingRun(
  trx: OrganisationTransaction,
  { organisation_id, run_id }: Pick<ApprovalRow, "organisation_id" | "run_id">,
  acceptedAt: Date,
) {
  const run = await trx
    .selectFrom("invocations")
    .select("message")
    .where("organisation_id", "=", organisation_id)
    .where("id", "=", run_id)
    .where("accepted_at", "=", acceptedAt)
    .executeTakeFirst();
  const waiting = await trx
    .selectFrom("waiting_runs")
    .select(["cut", "sealed"])
    .where("organisation_id", "=", organisation_id)
    .where("id", "=", run_id)
    .executeTakeFirst();
  return { message: run?.message ?? "", waiting };
}
