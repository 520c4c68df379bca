import { setTimeout as sleep } from "node:timers/promises";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { toPublicId } from "../packages/server/src/platform/ids.ts";

export interface RecordedRun {
  readonly id: string;
  readonly requestId: string;
  readonly agent: string;
  readonly status: string;
  readonly message: string;
  readonly response: string | null;
  readonly steps: number;
  readonly tokens: number;
  /** The kinds of its log lines, in the order of the alphabet, without calls that failed and were made again. */
  readonly log: readonly string[];
  readonly events: number;
  /** The status of each of its deliveries. */
  readonly deliveries: readonly string[];
}

/** The sums of an agent's metrics for one granularity. */
export interface RecordedSums {
  readonly agent: string;
  readonly granularity: string;
  readonly runs: number;
  readonly tokens: number;
}

export interface Recorded {
  readonly runs: readonly RecordedRun[];
  /** The messages of each session in order, as "role: content". */
  readonly sessions: ReadonlyMap<string, readonly string[]>;
  readonly sums: readonly RecordedSums[];
  /** The largest number of runs that were recorded by one statement. */
  readonly largestBatch: number;
}

const runsSql = `
  select i.id, a.name as agent, i.status, i.message, i.response, i.steps, i.tokens_used as tokens,
         array(select l.metadata ->> 'type' from log_entries l
                where l.invocation_id = i.id and l.metadata -> 'failed' is null order by 1) as log,
         (select count(*)::int from events e where e.id = i.id) as events,
         array(select d.status from deliveries d where d.event_id = i.id) as deliveries
    from invocations i join agents a on a.organisation_id = i.organisation_id and a.id = i.agent_id`;

const sumsSql = `
  select a.name as agent, r.granularity, sum(r.runs)::int as runs, sum(r.tokens)::int as tokens
    from run_rollups r join agents a on a.organisation_id = r.organisation_id and a.id = r.agent_id group by 1, 2`;

/** Runs that were recorded by one statement have one time. */
const largestBatchSql = "select count(*)::int as runs from invocations group by finished_at order by 1 desc limit 1";

/** Reads the records directly from the database. */
export const readRecorded = (adminUrl: string): Promise<Recorded> =>
  withClient(adminUrl, async (client) => {
    const runs = await client.query<Omit<RecordedRun, "requestId">>(runsSql);
    const messages = await client.query<{ session_id: string; role: string; content: string }>(
      "select session_id, role, content from session_messages order by session_id, turn, position",
    );
    const sums = await client.query<RecordedSums>(sumsSql);
    const batches = await client.query<{ runs: number }>(largestBatchSql);
    return {
      runs: runs.rows.map((run) => ({ ...run, requestId: toPublicId("request", run.id) })),
      sessions: new Map(
        [...Map.groupBy(messages.rows, ({ session_id }) => session_id)].map(([id, rows]) => [
          id,
          rows.map(({ role, content }) => `${role}: ${content}`),
        ]),
      ),
      sums: sums.rows,
      largestBatch: batches.rows[0]?.runs ?? 0,
    };
  });

const countDeliveries = (adminUrl: string, status: string): Promise<number> =>
  withClient(adminUrl, async (client) => {
    const { rowCount } = await client.query("select from deliveries where status = $1", [status]);
    return rowCount ?? 0;
  });

/** Waits until no delivery is pending, at most for so long. */
export async function waitForDeliveries(adminUrl: string, seconds: number): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  while ((await countDeliveries(adminUrl, "pending")) > 0 && performance.now() < deadline) await sleep(200);
}

/** Waits until so many runs whose message begins with this text have been recorded as completed. */
export const waitForRecords = (adminUrl: string, messageStart: string, count: number, seconds: number): Promise<void> =>
  withClient(adminUrl, async (client) => {
    const deadline = performance.now() + seconds * 1000;
    const sql = "select from invocations where starts_with(message, $1) and status = 'completed'";
    for (let found = 0; found < count; found = (await client.query(sql, [messageStart])).rowCount ?? 0) {
      if (performance.now() > deadline) throw new Error(`Only ${found} of ${count} runs were recorded in ${seconds} s`);
      await sleep(1);
    }
  });
