import type { InvocationStatus } from "@perch/contract";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { parsePublicId, toPublicId } from "../../src/platform/ids.ts";

export interface StoredRuns {
  /** Public ids. */
  readonly organisation: string;
  readonly agent: string;
  readonly count?: number;
  /** When the newest was accepted. The default is now. */
  readonly newest?: Date;
  /** Between one run and the next. */
  readonly stepMs?: number;
  readonly status?: InvocationStatus;
  readonly environment?: string;
  readonly userId?: string;
  readonly sessionId?: string;
  readonly version?: string;
  readonly deployment?: string;
  readonly durationMs?: number;
}

const statement = `
  insert into invocations (organisation_id, id, accepted_at, agent_id, status, environment, user_id, session_id, message, response,
                           version, deployment_id, duration_ms, tokens_used, steps, finished_at)
    select $1, uuid_at(at), at, $2, $3, $4, $5, $6, 'hello', 'hello', $7, $8, $9, 1, 1, at
      from (select $10::timestamptz(3) - number * $11::bigint * interval '1 ms' as at from generate_series(0, $12 - 1) number) times
    returning id`;

/** Inserts the records of runs that were never executed, and returns their ids, newest first. */
export const insertRuns = (adminUrl: string, runs: StoredRuns): Promise<string[]> =>
  withClient(adminUrl, async (client) => {
    const { count = 1, newest = new Date(), stepMs = 1, status = "completed", environment = "production" } = runs;
    const { rows } = await client.query<{ id: string }>(statement, [
      parsePublicId("organisation", runs.organisation),
      parsePublicId("agent", runs.agent),
      status,
      environment,
      runs.userId ?? null,
      runs.sessionId ?? null,
      runs.version ?? null,
      runs.deployment === undefined ? null : parsePublicId("deployment", runs.deployment),
      status === "running" ? null : (runs.durationMs ?? 10),
      newest,
      stepMs,
      count,
    ]);
    return rows
      .map(({ id }) => id)
      .toSorted()
      .toReversed()
      .map((id) => toPublicId("request", id));
  });
