import { setTimeout as sleep } from "node:timers/promises";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { startHousekeeping } from "@perch/testkit/installation/start-housekeeping.ts";
import type { ToolServer } from "@perch/testkit/servers/tool-server.ts";
import { countTimers } from "../inspector.ts";
import type { Installation } from "../installation.ts";
import { median } from "../load.ts";

const timerSamples = 9;

/** What PostgreSQL has done with the table so far. */
interface TableUse {
  readonly scans: number;
  readonly rowsRead: number;
  readonly writes: number;
}

/** Sessions report what they did up to a second later, and idle ones at the latest after ten. */
const statisticsSeconds = 11;

const readTableUse = ({ database }: Installation): Promise<TableUse> =>
  withClient(database.adminUrl, async (client) => {
    const { rows } = await client.query<{ scans: string; read: string; writes: string }>(
      `select seq_scan + coalesce(idx_scan, 0) as scans, seq_tup_read + coalesce(idx_tup_fetch, 0) as read, n_tup_ins + n_tup_upd + n_tup_del as writes
         from pg_stat_user_tables where relname = 'connections'`,
    );
    return { scans: Number(rows[0]?.scans), rowsRead: Number(rows[0]?.read), writes: Number(rows[0]?.writes) };
  });

const countRefreshed = ({ database }: Installation): Promise<number> =>
  withClient(database.adminUrl, async (client) => {
    const { rows } = await client.query<{ count: number }>(
      "select count(*)::int as count from connections where generation <> 1 or refresh_claimed_until is not null",
    );
    return rows[0]?.count ?? Number.NaN;
  });

export interface Idleness {
  /** Requests at the provider and at the tool. */
  readonly calls: number;
  readonly refreshes: number;
  /** Look-ups in the table, by housekeeping, and the rows that they and others have read or written. */
  readonly scans: number;
  readonly rowsRead: number;
  readonly writes: number;
  /** Timers that are set in the API node and the workers: the median of some samples, because requests come and go. */
  readonly timers: number;
}

/** Leaves the installation alone for so long, but for one round of housekeeping, and counts what it does by itself. */
export async function watchIdle(
  installation: Installation,
  outside: ToolServer,
  inspectorPorts: readonly number[],
  seconds: number,
): Promise<Idleness> {
  await sleep(statisticsSeconds * 1000);
  const [before, callsBefore] = [await readTableUse(installation), outside.calls.length];
  await startHousekeeping(installation);
  const timers: number[] = [];
  for (let sample = 0; sample < timerSamples; sample++) {
    await sleep((seconds * 1000) / timerSamples);
    const counts = await Promise.all(inspectorPorts.map(countTimers));
    timers.push(counts.reduce((sum, count) => sum + count, 0));
  }
  await sleep(statisticsSeconds * 1000);
  const after = await readTableUse(installation);
  return {
    calls: outside.calls.length - callsBefore,
    scans: after.scans - before.scans,
    rowsRead: after.rowsRead - before.rowsRead,
    writes: after.writes - before.writes,
    refreshes: await countRefreshed(installation),
    timers: median(timers),
  };
}
