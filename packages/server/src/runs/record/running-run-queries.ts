import type { Tier } from "@perch/contract";
import { type Kysely, sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { DB } from "../../db/generated-rows.ts";
import type { RunKey } from "../../engine/tasks.ts";

/** A run of any organisation, and the position at which a list of such runs continues. */
export interface RunningRun {
  readonly organisationId: string;
  readonly id: string;
  readonly acceptedAt: Date;
}

export const beforeAllRuns = { acceptedAt: new Date(0), id: "00000000-0000-0000-0000-000000000000" };

/** Runs of all organisations that the record has as running, the oldest first. */
export async function listRunningRuns(
  db: Kysely<DB>,
  after: Pick<RunningRun, "acceptedAt" | "id">,
  { minAgeSeconds, limit }: { readonly minAgeSeconds: number; readonly limit: number },
): Promise<RunningRun[]> {
  const { rows } = await sql<{ organisation_id: string; id: string; accepted_at: Date }>`
    select * from list_running_runs(make_interval(secs => ${minAgeSeconds}), ${after.acceptedAt}, ${after.id}, ${limit})`.execute(
    db,
  );
  return rows.map(({ organisation_id, id, accepted_at }) => ({
    organisationId: organisation_id,
    id,
    acceptedAt: accepted_at,
  }));
}

/** The engine's keys of these runs, the oldest first, without those that have ended in the meantime. */
export async function listRunKeys(
  trx: OrganisationTransaction,
  organisationId: string,
  runs: readonly RunningRun[],
): Promise<RunKey[]> {
  const rows = await trx
    .selectFrom("invocations")
    .select(["id", "agent_id", "user_id", "session_id", "cut"])
    .where("organisation_id", "=", organisationId)
    .where("id", "in", [...runs.map(({ id }) => id)])
    .where("accepted_at", "in", [...runs.map(({ acceptedAt }) => acceptedAt)])
    .where("status", "=", "running")
    .orderBy("accepted_at")
    .orderBy("id")
    .execute();
  return rows.map(({ id, agent_id, user_id, session_id, cut }) => ({
    id,
    cut,
    organisationId,
    agentId: agent_id,
    userId: user_id,
    sessionId: session_id,
  }));
}

export async function findTier(trx: OrganisationTransaction, organisationId: string): Promise<Tier> {
  const row = await trx.selectFrom("organisations").select("tier").where("id", "=", organisationId).executeTakeFirst();
  return (row?.tier ?? "free") as Tier;
}
