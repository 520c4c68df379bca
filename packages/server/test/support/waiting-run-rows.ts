import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import type pg from "pg";
import { parsePublicId } from "../../src/platform/ids.ts";

export interface WaitingRows {
  /** Public ids. */
  readonly organisation: string;
  readonly agent: string;
  readonly count?: number;
  /** When the newest was accepted. The default is now. */
  readonly acceptedAt?: Date;
  readonly userId?: string;
  readonly sessionId?: string;
  /** The number of approvals of each run. */
  readonly approvals?: number;
  readonly expiresAt?: Date;
  /** `turn`: behind another run of its session, without approvals of its own. */
  readonly waitsFor?: "decision" | "turn";
}

const insertRecord = `
  insert into invocations (organisation_id, id, accepted_at, agent_id, status, cut, environment, user_id, session_id, message, steps)
    select $1, uuid_at(at), at, $2, 'waiting', 1, 'production', $3, $4, 'Refund order 7.', 1
      from (select $5::timestamptz(3) - number * interval '1 ms' as at from generate_series(0, $6 - 1) number) times
    returning id, accepted_at`;
const insertWaiting = `
  insert into waiting_runs (organisation_id, id, accepted_at, agent_id, cut, waits_for, status, user_id, session_id, timeout_seconds,
                            max_concurrent_runs, sealed)
    select $1, id, at, $2, 1, $3, 'waiting', $4, $5, 60, 10, '\\x00' from unnest($6::uuid[], $7::timestamptz[]) as runs (id, at)`;
const insertApprovals = `
  insert into approvals (organisation_id, id, agent_id, run_id, cut, step, call, kind, tool, why, digest, environment, user_id, session_id,
                         invoker_may_decide, approvers, second_factor, sealed_call, expires_at)
    select $1, gen_random_uuid(), $2, id, 1, 1, call, 'tool', 'refund', 'always', sha256(''), 'production', $3, $4, false, 1, false, '\\x00', $5
      from unnest($6::uuid[]) as runs (id), generate_series(1, $7) call
    returning id`;

/** Inserts runs that wait as a cut leaves them, but without a state that opens. Returns their ids and those of their approvals, as UUIDs. */
export const insertWaitingRuns = (
  adminUrl: string,
  rows: WaitingRows,
): Promise<{ readonly runs: string[]; readonly approvals: string[] }> =>
  withClient(adminUrl, async (client: pg.Client) => {
    const { count = 1, acceptedAt = new Date(), waitsFor = "decision", userId = null, sessionId = null } = rows;
    const owner = [parsePublicId("organisation", rows.organisation), parsePublicId("agent", rows.agent)];
    await client.query("begin");
    const records = await client.query<{ id: string; accepted_at: Date }>(insertRecord, [
      ...owner,
      userId,
      sessionId,
      acceptedAt,
      count,
    ]);
    const runs = records.rows.map(({ id }) => id);
    const times = records.rows.map(({ accepted_at }) => accepted_at);
    await client.query(insertWaiting, [...owner, waitsFor, userId, sessionId, runs, times]);
    const expiresAt = rows.expiresAt ?? new Date(Date.now() + 86_400_000);
    const perRun = waitsFor === "turn" ? 0 : (rows.approvals ?? 1);
    const approvals = await client.query<{ id: string }>(insertApprovals, [
      ...owner,
      userId,
      sessionId,
      expiresAt,
      runs,
      perRun,
    ]);
    await client.query("commit");
    return { runs, approvals: approvals.rows.map(({ id }) => id) };
  });
