import { setTimeout as sleep } from "node:timers/promises";
import { agentRuns, agentSessions } from "../../../server/src/engine/services.ts";
import type { RestateCluster } from "./restate-process.ts";

async function queryNode<T>(adminUrl: string, sql: string, limitMs = 30_000): Promise<T[]> {
  const response = await fetch(`${adminUrl}/query`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ query: sql }),
    signal: AbortSignal.timeout(limitMs),
  });
  if (!response.ok) throw new Error(`The engine answers a query with ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { rows: T[] }).rows;
}

const queryAttempts = 20;

/** A node that has just come back may break off its answer, and a slow one loses its place in it, so the nodes are asked in turn. */
async function queryEngine<T>({ adminUrls }: RestateCluster, sql: string): Promise<T[]> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await queryNode<T>(adminUrls[attempt % adminUrls.length] ?? "", sql);
    } catch (error) {
      if (attempt === queryAttempts - 1) throw error;
      await sleep(2000);
    }
  }
}

/** The partition of each run that the engine knows, by the run's id. */
export async function findPartitions(
  engine: RestateCluster,
  partitionCount: number,
): Promise<ReadonlyMap<string, number>> {
  // The engine divides the keys, of 64 bits, into ranges of equal size.
  const keysPerPartition = (2n ** 64n + BigInt(partitionCount) - 1n) / BigInt(partitionCount);
  const rows = await queryEngine<{ id: string; partition: number }>(
    engine,
    `select idempotency_key as id, cast(partition_key / ${keysPerPartition} as int) as partition
       from sys_invocation_status where idempotency_key is not null`,
  );
  return new Map(rows.map(({ id, partition }) => [id, partition]));
}

/** The number of invocations of runs that the engine remembers for each idempotency key. It forgets one that ended an hour ago. */
export async function countRunsByKey(engine: RestateCluster): Promise<ReadonlyMap<string, number>> {
  const rows = await queryEngine<{ key: string; runs: number }>(
    engine,
    `select idempotency_key as key, count(*) as runs from sys_invocation_status
      where idempotency_key is not null and target_service_name in ('${agentRuns}', '${agentSessions}')
      group by idempotency_key`,
  );
  return new Map(rows.map(({ key, runs }) => [key, runs]));
}

/** The parts of runs that the engine has not ended, by their idempotency keys. Rejects if no node answers. */
export async function listOpenParts({ adminUrls }: RestateCluster): Promise<ReadonlySet<string>> {
  const sql = `select idempotency_key as part from sys_invocation_status
    where target_service_name in ('${agentRuns}', '${agentSessions}') and status <> 'completed'`;
  let failure: unknown;
  for (const url of adminUrls) {
    try {
      const rows = await queryNode<{ part: string | null }>(url, sql, 3000);
      return new Set(rows.flatMap(({ part }) => part ?? []));
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

const openRunsSql = `select id, status, last_failure as failure from sys_invocation
  where target_service_name in ('${agentRuns}', '${agentSessions}') and status <> 'completed'`;

/** The runs that the engine has not ended after this time. One that fails again and again never ends, and blocks its session. */
export async function listRunsLeft(engine: RestateCluster, seconds: number): Promise<string[]> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const rows = await queryEngine<{ id: string; status: string; failure?: string }>(engine, openRunsSql);
    if (rows.length === 0 || performance.now() > deadline)
      return rows.map(
        ({ id, status, failure }) => `${id}: ${status} in the engine, last failure: ${failure ?? "none"}`,
      );
    await sleep(500);
  }
}
