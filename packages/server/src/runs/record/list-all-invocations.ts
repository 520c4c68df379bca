import type { AllInvocationsQuery } from "@perch/contract";
import { type RawBuilder, sql } from "kysely";
import type { Scope } from "../../auth/caller.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import { ofVisibleUser } from "../../db/of-visible-user.ts";
import { type Scanned, scanInOrder } from "../../db/scan-in-order.ts";
import { firstUuidAt, uuidTime } from "../../platform/ids.ts";
import { type InvocationSummaryRow, summaryColumns } from "./invocation-queries.ts";
import { type TimeWindow, timeWindows, windowsOfRun } from "./run-list-rules.ts";

export interface AllInvocationsFilter
  extends Omit<AllInvocationsQuery, "request_id" | "agent_id" | "deployment_id" | "cursor" | "limit"> {
  readonly id?: string | undefined;
  readonly agentId?: string | undefined;
  readonly deploymentId?: string | undefined;
}

interface RunPage {
  readonly limit: number;
  /** The id of the run after which the page begins. */
  readonly before?: string | undefined;
  readonly nowMs: number;
}

export type InvocationOfAnyAgentRow = InvocationSummaryRow & { readonly agent_name: string };

export interface FoundInvocations {
  readonly rows: readonly InvocationOfAnyAgentRow[];
  /** The id of the run after which the next page begins; undefined on the last page. */
  readonly end: string | undefined;
}

/** In each of the windows of `timeWindows`: some 10 ms. */
export const maxReadRuns = 5000;

const allOf = (conditions: readonly (RawBuilder<unknown> | false)[]): RawBuilder<unknown> =>
  sql.join(
    conditions.filter((condition) => condition !== false),
    sql` and `,
  );

const columns = sql.join(["organisation_id", ...summaryColumns].map((column) => sql.ref(column)));

/** One agent's runs, or one conversation's, in the order of their index: by time and id, which is the order of the ids. */
const selectOfAgent = (agentId: string, filter: AllInvocationsFilter, before: string | undefined) => ({
  order: sql`accepted_at desc, id desc`,
  where: allOf([
    sql`agent_id = ${agentId}`,
    filter.session_id !== undefined && sql`session_id = ${filter.session_id}`,
    before !== undefined && sql`(accepted_at, id) < (${uuidTime(before)}, ${before}::uuid)`,
  ]),
});

/** All runs in the order of the primary key. Times become ids, because the index does not begin with the time. */
const selectOfAll = ({ from, until }: TimeWindow, before: string | undefined) => ({
  order: sql`id desc`,
  where: allOf([
    from !== null && sql`id >= ${firstUuidAt(from)}::uuid`,
    sql`id < ${firstUuidAt(until)}::uuid`,
    before !== undefined && sql`id < ${before}::uuid`,
  ]),
});

/** Conditions that no index has: these are compared in each run that is read. */
const matchesOf = (
  scope: Scope,
  { status, user_id, session_id, environment, version, ...filter }: AllInvocationsFilter,
) => {
  const equal = { status, user_id, session_id, environment, deployment_id: filter.deploymentId };
  return [
    ofVisibleUser(scope),
    ...Object.entries(equal).flatMap(([column, value]) =>
      value === undefined ? [] : [sql<boolean>`${sql.ref(column)} = ${value}`],
    ),
    ...(version === undefined
      ? []
      : [version === "draft" ? sql<boolean>`version is null` : sql<boolean>`version = ${version}`]),
    ...(filter.min_duration_ms === undefined ? [] : [sql<boolean>`duration_ms >= ${filter.min_duration_ms}`]),
  ];
};

function scanWindow(
  trx: OrganisationTransaction,
  scope: Scope,
  filter: AllInvocationsFilter,
  window: TimeWindow,
  { limit, before }: Pick<RunPage, "limit" | "before">,
): Promise<Scanned<InvocationOfAnyAgentRow>> {
  const agentId = scope.onlyAgentId ?? filter.agentId;
  const { order, where } = agentId === undefined ? selectOfAll(window, before) : selectOfAgent(agentId, filter, before);
  const times = allOf([
    where,
    filter.id !== undefined && sql`id = ${filter.id}::uuid`,
    window.from !== null && sql`accepted_at >= ${window.from}`,
    sql`accepted_at < ${window.until}`,
  ]);
  const select = sql`select ${columns} from invocations where organisation_id = ${scope.organisationId} and ${times}`;
  return scanInOrder(trx, { scope, select, order, matches: matchesOf(scope, filter), limit, maxRead: maxReadRuns });
}

/** A deployment serves one agent, whose runs have an index. Undefined if the deployment is deleted: its runs are kept longer. */
async function findAgentOfDeployment(
  trx: OrganisationTransaction,
  { organisationId }: Scope,
  id: string,
): Promise<string | undefined> {
  const row = await trx
    .selectFrom("deployments")
    .select("agent_id")
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row?.agent_id;
}

/** Newest first. The cost does not grow with the stored runs, nor with how few match. */
export async function listAllInvocations(
  trx: OrganisationTransaction,
  scope: Scope,
  { agentId: named, ...rest }: AllInvocationsFilter,
  { limit, before, nowMs }: RunPage,
): Promise<FoundInvocations> {
  const { deploymentId } = rest;
  const agentId = named ?? (deploymentId && (await findAgentOfDeployment(trx, scope, deploymentId)));
  const filter = { ...rest, agentId };
  const found: InvocationOfAnyAgentRow[] = [];
  const windows = filter.id === undefined ? timeWindows({ ...filter, before }, nowMs) : windowsOfRun(filter.id);
  for (const window of windows) {
    const scanned = await scanWindow(trx, scope, filter, window, { limit: limit - found.length, before });
    found.push(...scanned.rows);
    if (scanned.isFull) return { rows: found, end: found.at(-1)?.id };
    if (scanned.stoppedAt) return { rows: found, end: scanned.stoppedAt.id };
  }
  return { rows: found, end: undefined };
}
