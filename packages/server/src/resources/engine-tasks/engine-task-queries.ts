import { type Kysely, sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { DB } from "../../db/generated-rows.ts";
import type { ClearKey, DeploymentKey } from "../../engine/messages.ts";
import type { AgentKey } from "../../platform/agent-key.ts";

/** Something that the engine has to be given once the change that needs it has committed. */
export type EngineTask =
  | ({ readonly kind: "activate_deployment" } & DeploymentKey)
  | ({ readonly kind: "embed_memory"; readonly id: string } & AgentKey)
  | ({ readonly kind: "clear_memory" } & ClearKey);

/** How long the process that committed a task is the only one that sends it. */
export const ownSendSeconds = 5;
/** While the engine is away, an organisation cannot fill the table. */
const maxWaitingOfOrganisation = 1000;

/** False when too many tasks of the organisation wait already. */
export async function insertTask(trx: OrganisationTransaction, task: EngineTask): Promise<boolean> {
  const { id, organisationId, kind, agentId } = task;
  const environment = kind === "activate_deployment" ? task.environment : null;
  const { numAffectedRows } = await sql`
    insert into engine_tasks (id, organisation_id, kind, agent_id, environment, send_after)
      select ${id}, ${organisationId}, ${kind}, ${agentId}, ${environment}, now() + make_interval(secs => ${ownSendSeconds})
        where ${maxWaitingOfOrganisation} > (select count(*) from (
          select from engine_tasks where organisation_id = ${organisationId} limit ${maxWaitingOfOrganisation}) waiting)`.execute(
    trx,
  );
  return numAffectedRows === 1n;
}

const maxCounted = 1000;

/** Tasks of all organisations that their own process has not sent in time. */
export async function countWaitingTasks(db: Kysely<DB>): Promise<number> {
  const { rows } = await sql<{ waiting: number }>`
    select count_waiting_engine_tasks(make_interval(secs => ${ownSendSeconds}), ${maxCounted}) as waiting`.execute(db);
  return rows[0]?.waiting ?? 0;
}

export interface ClaimedTask {
  readonly task: EngineTask;
  readonly createdAt: Date;
}

interface TaskRow {
  readonly id: string;
  readonly organisation_id: string;
  readonly kind: EngineTask["kind"];
  readonly agent_id: string;
  readonly environment: string | null;
  readonly created_at: Date;
}

function toTask({ id, organisation_id: organisationId, kind, agent_id: agentId, environment }: TaskRow): EngineTask {
  const key = { id, organisationId, agentId };
  return kind === "activate_deployment" ? { kind, ...key, environment: environment ?? "" } : { kind, ...key };
}

const maxClaimed = 100;
const minWaitSeconds = 2;
const maxWaitSeconds = 30;

/**
 * Claims due tasks of all organisations. No other process gets them until they are due again: later, the longer they
 * have waited.
 */
export async function claimDueTasks(db: Kysely<DB>): Promise<ClaimedTask[]> {
  const { rows } = await sql<TaskRow>`
    select * from claim_engine_tasks(
      ${maxClaimed}, make_interval(secs => ${minWaitSeconds}), make_interval(secs => ${maxWaitSeconds}))`.execute(db);
  return rows.map((row) => ({ task: toTask(row), createdAt: row.created_at }));
}

export async function deleteTasks(db: Kysely<DB>, ids: readonly string[]): Promise<void> {
  await sql`select delete_engine_tasks(${[...ids]}::uuid[])`.execute(db);
}
