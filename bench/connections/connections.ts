import { loadavg } from "node:os";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { freePort, scratchSettings } from "@perch/testkit/installation/server-process.ts";
import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { type Core, closeCore, composeCore } from "../../packages/server/src/compose/core.ts";
import { readConfig } from "../../packages/server/src/config/config.ts";
import { createLogger } from "../../packages/server/src/platform/logger.ts";
import { type Figures, roundTo } from "../comparison.ts";
import { type Installation, startInstallation } from "../installation.ts";
import { maxRatio } from "../side-by-side.ts";
import { createStops, type Stops } from "../stops.ts";
import { type Idleness, watchIdle } from "./idle.ts";
import { lookUps } from "./look-ups.ts";
import { storeConnections } from "./stored-connections.ts";

const smallSize = 100;
const full = { connections: 1_000_000, idleSeconds: 60 };
const short = { connections: 20_000, idleSeconds: 5 };

/** Requests, and the timers that they set, come and go in a process that only waits. */
const maxMoreTimers = 20;

const mustBeZero = ["idle_provider_calls", "idle_refreshes", "idle_writes", "idle_more_rows_read"];

/** Figures that are not as promised, a line each. */
function describeBroken(figures: Figures): string[] {
  return Object.entries(figures).flatMap(([name, value]) => {
    const max = name.endsWith("_p95_ratio") ? maxRatio : name === "idle_more_timers" ? maxMoreTimers : 0;
    const isPromised = max > 0 || mustBeZero.includes(name);
    return isPromised && Number(value) > max ? [`${name} is ${Number(value)}, and should be at most ${max}`] : [];
  });
}

const measureBytes = ({ database }: Installation): Promise<Figures> =>
  withClient(database.adminUrl, async (client) => {
    const { rows } = await client.query<{ table: number; indexes: number; sealed: number }>(
      `select pg_table_size('connections')::float8 / count(*) as table, pg_indexes_size('connections')::float8 / count(*) as indexes,
              avg(length(sealed_grant))::float8 as sealed
         from connections`,
    );
    const { table, indexes, sealed } = rows[0] ?? { table: 0, indexes: 0, sealed: 0 };
    return {
      bytes_per_row: Math.round(table),
      index_bytes_per_row: Math.round(indexes),
      sealed_bytes_per_row: Math.round(sealed),
    };
  });

const show = (size: number, { calls, refreshes, scans, rowsRead, writes, timers }: Idleness): string =>
  `${size} connections, left alone: ${calls} calls, ${refreshes} refreshes, ${rowsRead} rows read in ${scans} scans, ${writes} written, ${timers} timers`;

async function startNodes(stops: Stops) {
  const inspectorPorts = [await freePort(), await freePort(), await freePort()];
  const inspected = (index: number) => ({ NODE_OPTIONS: `--inspect=127.0.0.1:${inspectorPorts[index]}` });
  const installation = await startInstallation(stops, "split", inspected, inspected(2));
  return { installation, inspectorPorts };
}

/** What a worker is made of, in this process: it seals what is stored, and looks tokens up. */
async function startCore(stops: Stops, { database }: Installation): Promise<Core> {
  const core = composeCore(readConfig({ ...process.env, ...scratchSettings(database, 0) }), createLogger("error"));
  stops.add(() => closeCore(core));
  await core.dataKeys.load();
  return core;
}

/** What connections cost that nobody uses, and whether a list and a run's look-up cost more where there are many. */
export async function connections(options: { readonly short: boolean }): Promise<Figures> {
  const sizes = options.short ? short : full;
  const stops = createStops();
  try {
    const outside = await startToolServer();
    stops.add(outside.close);
    const { installation, inspectorPorts } = await startNodes(stops);
    const { database } = installation;
    const accounts = {
      issuer: outside.url,
      tool: { type: "http", name: "mail", url: `${outside.url}/messages` },
    } as const;
    const core = await startCore(stops, installation);
    const store = (name: string, size: number) => storeConnections(database, core.keys, accounts, { name, size });
    const small = await store("small", smallSize);
    const few = await watchIdle(installation, outside, inspectorPorts, sizes.idleSeconds);
    console.error(show(smallSize, few));
    const large = await store("large", sizes.connections);
    await withClient(database.adminUrl, (client) => client.query("vacuum analyze connections"));
    const many = await watchIdle(installation, outside, inspectorPorts, sizes.idleSeconds);
    console.error(show(large.size, many));
    const measured = await lookUps(installation, core, accounts, [small, large]);
    const [load = 0] = loadavg();
    const figures = {
      connections: large.size,
      idle_seconds: sizes.idleSeconds,
      idle_provider_calls: many.calls,
      idle_refreshes: many.refreshes,
      idle_writes: many.writes,
      idle_more_rows_read: many.rowsRead - few.rowsRead,
      idle_more_timers: many.timers - few.timers,
      ...measured,
      ...(await measureBytes(installation)),
      load_average: roundTo(1, load),
    };
    const broken = describeBroken(figures);
    for (const line of broken) console.error(line);
    if (broken.length > 0) process.exitCode = 1;
    return figures;
  } finally {
    await stops.all();
  }
}
