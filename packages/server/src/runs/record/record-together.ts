import { sql } from "kysely";
import { isConnectionFailure, isStatementTimeout } from "../../db/connection-failure.ts";
import type { Database } from "../../db/database.ts";
import type { RunInput, RunOutcome } from "../../engine/messages.ts";
import { batchWhileBusy, type Waiting } from "../../fairness/batch-while-busy.ts";
import { publishRunStage } from "../../platform/run-stages.ts";
import { memoryLimits } from "../../resources/memory/memory-rules.ts";
import { rollupShards } from "../../resources/metrics/metric-rules.ts";
import type { LogLine, QueuedDelivery, Session } from "../run.ts";
import { memoryOf, recordOf } from "./record-rules.ts";

/** Not `inserted`: an earlier record of the run exists and counts. */
interface Inserted {
  readonly inserted: boolean;
  readonly toDeliver: readonly QueuedDelivery[];
}

/** Writes the end of a run once, and returns its webhook deliveries. */
export type InsertRunRecord = (
  run: RunInput,
  outcome: RunOutcome,
  session: Session,
  log: readonly LogLine[],
  contents?: string,
) => Promise<Inserted>;

interface RecordedRow {
  readonly run_id: string;
  readonly inserted: boolean;
  readonly deliveries: readonly QueuedDelivery[];
}

interface RunRecord {
  readonly id: string;
  readonly json: string;
}

type WaitingRecord = Waiting<RunRecord, Inserted>;

const batches = {
  maxRequests: 64,
  maxChars: 1024 * 1024,
  charsOf: ({ json }: RunRecord) => json.length,
  maxCalls: 4,
};

/**
 * Runs that end while earlier ones are being recorded are recorded together, by one statement, whatever their
 * organisations. A batch that the database refuses is recorded run by run, so that one bad record does not affect the
 * others. A run with a memory is always recorded separately, with its organisation's connections, because writing a
 * memory may wait for other writers of the same agent.
 */
export function createInsertRunRecord(db: Pick<Database, "unscoped" | "onBehalfOf">): InsertRunRecord {
  // Statements that run at the same time, here or in another process, should not meet in a row of the rollups.
  let shard = Math.floor(Math.random() * rollupShards);
  const nextShard = () => {
    shard = (shard + 1) % rollupShards;
    return shard;
  };

  const toInserted = (row: RecordedRow | undefined): Inserted => {
    if (!row) throw new Error("record_runs returned no row for a run");
    return { inserted: row.inserted, toDeliver: row.deliveries };
  };

  const recordBatch = async (batch: readonly WaitingRecord[]): Promise<void> => {
    for (const { request } of batch) publishRunStage(request.id, "statement_started");
    const json = `[${batch.map(({ request }) => request.json).join(",")}]`;
    const { rows } =
      await sql<RecordedRow>`select * from record_runs(${json}::jsonb, ${nextShard()}::smallint)`.execute(db.unscoped);
    const rowById = new Map(rows.map((row) => [row.run_id, row]));
    for (const { request, resolve } of batch) {
      publishRunStage(request.id, "statement_done");
      resolve(toInserted(rowById.get(request.id)));
    }
  };

  /**
   * A lost connection or a timeout proves nothing about the records: only a refused batch is worth a second try, run by
   * run.
   */
  const recordOrSplit = async (batch: readonly WaitingRecord[]): Promise<void> => {
    try {
      await recordBatch(batch);
    } catch (error) {
      const isRefused = batch.length > 1 && !isConnectionFailure(error) && !isStatementTimeout(error);
      for (const each of batch) {
        if (isRefused) await recordBatch([each]).catch(each.reject);
        else each.reject(error);
      }
    }
  };

  const insertTogether = batchWhileBusy(recordOrSplit, batches);

  const insertWithMemory = async (organisationId: string, json: string, memory: object): Promise<Inserted> => {
    const insert = sql<RecordedRow>`
      select * from record_run_with_memory(${json}::jsonb, ${nextShard()}::smallint, ${JSON.stringify(memory)}::jsonb,
        ${JSON.stringify(memoryLimits)}::jsonb)`;
    const { rows } = await db.onBehalfOf(organisationId, (each) => insert.execute(each));
    return toInserted(rows[0]);
  };

  return (run, outcome, session, log, contents) => {
    const json = JSON.stringify(recordOf(run, outcome, session, log, contents));
    const memory = memoryOf(run, outcome);
    if (memory) return insertWithMemory(run.organisationId, json, memory);
    publishRunStage(run.id, "record_queued");
    return insertTogether({ id: run.id, json });
  };
}
