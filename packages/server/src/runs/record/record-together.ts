import { sql } from "kysely";
import { isConnectionFailure, isStatementTimeout } from "../../db/connection-failure.ts";
import type { Database } from "../../db/database.ts";
import type { RunInput, RunOutcome } from "../../engine/messages.ts";
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
) => Promise<Inserted>;

interface RecordedRow {
  readonly run_id: string;
  readonly inserted: boolean;
  readonly deliveries: readonly QueuedDelivery[];
}

interface WaitingRecord {
  readonly id: string;
  readonly json: string;
  readonly resolve: (inserted: Inserted) => void;
  readonly reject: (error: unknown) => void;
}

const maxBatchRecords = 64;
/** More than one statement at a time only makes batches smaller, unless full batches are waiting. */
const maxStatements = 4;
/** A batch with more waits for its largest record; this one goes with few others, or alone. */
const maxBatchChars = 1024 * 1024;

/** Takes the records of the next statement from the front of the queue: at least one. */
function takeBatch(queue: WaitingRecord[]): WaitingRecord[] {
  let count = 1;
  let chars = queue[0]?.json.length ?? 0;
  for (; count < Math.min(queue.length, maxBatchRecords); count++) {
    chars += queue[count]?.json.length ?? 0;
    if (chars > maxBatchChars) break;
  }
  return queue.splice(0, count);
}

/**
 * Runs that end while earlier ones are being recorded are recorded together, by one statement, whatever their organisations; when it
 * is quiet, a run is recorded at once and alone. A batch that the database refuses is recorded run by run: one bad record spoils
 * none. A run with a memory is always recorded alone, with its organisation's connections: writing a memory may wait for other
 * writers of the same agent.
 */
export function createInsertRunRecord(db: Pick<Database, "unscoped" | "onBehalfOf">): InsertRunRecord {
  const queue: WaitingRecord[] = [];
  let statements = 0;
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
    const json = `[${batch.map((each) => each.json).join(",")}]`;
    const { rows } =
      await sql<RecordedRow>`select * from record_runs(${json}::jsonb, ${nextShard()}::smallint)`.execute(db.unscoped);
    const rowById = new Map(rows.map((row) => [row.run_id, row]));
    for (const { id, resolve } of batch) resolve(toInserted(rowById.get(id)));
  };

  /** A lost connection or a timeout says nothing about the records: only what is refused is worth a second, single try. */
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

  const recordWaiting = async (): Promise<void> => {
    statements++;
    while (queue.length > 0) await recordOrSplit(takeBatch(queue));
    statements--;
  };

  const insertWithMemory = async (organisationId: string, json: string, memory: object): Promise<Inserted> => {
    const insert = sql<RecordedRow>`
      select * from record_run_with_memory(${json}::jsonb, ${nextShard()}::smallint, ${JSON.stringify(memory)}::jsonb,
        ${JSON.stringify(memoryLimits)}::jsonb)`;
    const { rows } = await db.onBehalfOf(organisationId, (each) => insert.execute(each));
    return toInserted(rows[0]);
  };

  return (run, outcome, session, log) => {
    const json = JSON.stringify(recordOf(run, outcome, session, log));
    const memory = memoryOf(run, outcome);
    if (memory) return insertWithMemory(run.organisationId, json, memory);
    return new Promise((resolve, reject) => {
      queue.push({ id: run.id, json, resolve, reject });
      const hasFullBatch = queue.length >= maxBatchRecords;
      if (statements === 0 || (hasFullBatch && statements < maxStatements)) void recordWaiting();
    });
  };
}
