import type { AllDeploymentsQuery, DeploymentOfAnyAgent } from "@perch/contract";
import { sql } from "kysely";
import type { Scope } from "../../auth/caller.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import { scanInOrder } from "../../db/scan-in-order.ts";
import { invalid } from "../../platform/api-error.ts";
import type { DeploymentRow } from "./deployment-queries.ts";
import { toDeployment } from "./to-deployment.ts";

/** About 10 ms. */
export const maxReadDeployments = 2000;
/** Deployments are in the order of a sequence, from which the database's clock may differ after it was set. */
const maxClockStepMs = 3_600_000;

export type DeploymentFilter = Omit<AllDeploymentsQuery, "agent_id" | "cursor" | "limit"> & {
  readonly agentId?: string | undefined;
};

type DeploymentOfAnyAgentRow = DeploymentRow & { readonly agent_name: string };

interface FoundDeployments {
  readonly rows: readonly DeploymentOfAnyAgentRow[];
  /** The place of the last deployment that was read; undefined on the last page. */
  readonly end: string | undefined;
}

/** Newest first. The cost does not grow with the stored deployments, nor with how few match. */
export async function listAllDeployments(
  trx: OrganisationTransaction,
  scope: Scope,
  { agentId: named, environment, status, start_time, end_time }: DeploymentFilter,
  { limit, before }: { readonly limit: number; readonly before: string | undefined },
): Promise<FoundDeployments> {
  const agentId = scope.onlyAgentId ?? named;
  const order = sql`creation_order desc`;
  const select = sql`select * from deployments where organisation_id = ${scope.organisationId}
    ${agentId === undefined ? sql`` : sql`and agent_id = ${agentId}`}
    ${before === undefined ? sql`` : sql`and creation_order < ${before}`}`;
  const matches = [
    sql<boolean>`true`,
    ...(environment === undefined ? [] : [sql<boolean>`environment = ${environment}`]),
    ...(status === undefined ? [] : [sql<boolean>`status = ${status}`]),
    ...(start_time === undefined ? [] : [sql<boolean>`created_at >= ${new Date(start_time)}`]),
    ...(end_time === undefined ? [] : [sql<boolean>`created_at < ${new Date(end_time)}`]),
  ];
  const scan = { scope, select, order, matches, limit, maxRead: maxReadDeployments };
  const { rows, isFull, stoppedAt } = await scanInOrder<DeploymentOfAnyAgentRow>(trx, scan);
  if (isFull) return { rows, end: rows.at(-1)?.creation_order };
  const isPastStart =
    stoppedAt !== undefined &&
    start_time !== undefined &&
    stoppedAt.created_at.getTime() < Date.parse(start_time) - maxClockStepMs;
  return { rows, end: isPastStart ? undefined : stoppedAt?.creation_order };
}

export const toDeploymentOfAnyAgent = (row: DeploymentOfAnyAgentRow): DeploymentOfAnyAgent => ({
  ...toDeployment(row),
  agent_name: row.agent_name,
});

export const toDeploymentCursor = (creationOrder: string): string => Buffer.from(creationOrder).toString("base64url");

export function fromDeploymentCursor(cursor: string): string {
  const place = Buffer.from(cursor, "base64url").toString();
  if (/^\d{1,18}$/.test(place) && toDeploymentCursor(place) === cursor) return place;
  throw invalid("cursor", "Expected `pagination.next_cursor` of another page");
}
