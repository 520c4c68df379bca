import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type DurablePostgres, startDurablePostgres } from "@perch/testkit/installation/durable-postgres.ts";
import { startInstallation } from "@perch/testkit/installation/installation.ts";
import { installationSettings } from "@perch/testkit/installation/installation-settings.ts";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { runCommand, scratchSettings } from "@perch/testkit/installation/server-process.ts";
import { startValkey } from "@perch/testkit/installation/valkey-process.ts";
import { housekeepingSteps } from "../packages/server/src/compose/compose-housekeeping.ts";
import { closeCore, composeCore } from "../packages/server/src/compose/core.ts";
import { readConfig } from "../packages/server/src/config/config.ts";
import { createLogger } from "../packages/server/src/platform/logger.ts";
import { deleteOldestEnded } from "../packages/server/src/resources/deployments/kept-deployments.ts";
import { createOrganisationsWithAgent } from "./bench-organisations.ts";
import { type Figures, roundTo } from "./comparison.ts";
import { checkAnswers, type PostTarget } from "./load.ts";
import { type BusyDay, seedBacklog, seedOrganisations, takeRunsAgain, writeDay } from "./simulated-days.ts";
import { percentile, sendSteadily } from "./steady-load.ts";
import { createStops, type Stops } from "./stops.ts";

/** `PERCH_BENCH_DAYS=500` shows the audit log level off too, whose entries are kept for 400 days. */
const days = Number(process.env.PERCH_BENCH_DAYS ?? 150);
const busyDay: BusyDay = { runs: Number(process.env.PERCH_BENCH_RUNS_PER_DAY ?? 4000), agents: 60, keys: 200 };
/** Of an agent that stays, after which its next deployment makes room for itself. */
const maxDeployments = 30;
const reportEveryDays = 30;
const backlog = { agents: 1500, keys: 20_000 };
const rounds = 3;
const invokesPerSecond = 40;
const library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

interface Size {
  readonly rows: number;
  readonly bytes: number;
}
type Sizes = ReadonlyMap<string, Size>;

/** Steps that need the engine have nothing to do here. */
const needsEngine = "releases";

/** Runs the steps as a worker would, and returns how long each took. */
async function runHousekeeping(database: DurablePostgres): Promise<Map<string, number>> {
  const core = composeCore(readConfig({ ...process.env, ...scratchSettings(database, 0) }), createLogger("error"));
  const times = new Map<string, number>();
  try {
    for (const { name, run } of housekeepingSteps(core, { eraseUser: async () => undefined })) {
      if (name === needsEngine) continue;
      const startedAt = performance.now();
      await run();
      times.set(name, performance.now() - startedAt);
    }
    return times;
  } finally {
    await closeCore(core);
  }
}

/** What each deployment of an agent does before it is inserted. */
async function makeRoomForDeployments(database: DurablePostgres): Promise<void> {
  const { rows } = await withClient(database.adminUrl, (client) =>
    client.query<{ organisation_id: string; id: string }>(
      "select organisation_id, id from agents where name like 'living-%'",
    ),
  );
  const core = composeCore(readConfig({ ...process.env, ...scratchSettings(database, 0) }), createLogger("error"));
  for (const { organisation_id, id } of rows)
    await core.db.inOrganisation(organisation_id, (trx) =>
      deleteOldestEnded(trx, { organisationId: organisation_id, agentId: id }, maxDeployments),
    );
  await closeCore(core);
}

/** Rows and bytes, with indexes and long texts, of each table with its partitions. */
const measureSizes = (database: DurablePostgres): Promise<Sizes> =>
  withClient(database.adminUrl, async (client) => {
    const { rows } = await client.query<{ name: string; bytes: string }>(`
      select c.relname as name, coalesce((select sum(pg_total_relation_size(relid)) from pg_partition_tree(c.oid) where isleaf), pg_total_relation_size(c.oid)) as bytes
        from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1`);
    const sizes = new Map<string, Size>();
    for (const { name, bytes } of rows) {
      const counted = await client.query<{ rows: number }>(`select count(*)::int as rows from ${name}`);
      sizes.set(name, { rows: counted.rows[0]?.rows ?? 0, bytes: Number(bytes) });
    }
    return sizes;
  });

interface Simulation {
  readonly sizes: ReadonlyMap<number, Sizes>;
  /** Of each step, the longest. */
  readonly stepMs: ReadonlyMap<string, number>;
}

async function simulateDays(database: DurablePostgres, nextDay: () => Promise<void>): Promise<Simulation> {
  const sizes = new Map<number, Sizes>();
  const stepMs = new Map<string, number>();
  await withClient(database.adminUrl, seedOrganisations);
  for (let day = 1; day <= days; day++) {
    await nextDay();
    await withClient(database.adminUrl, (client) => writeDay(client, busyDay));
    await makeRoomForDeployments(database);
    for (const [step, ms] of await runHousekeeping(database)) stepMs.set(step, Math.max(ms, stepMs.get(step) ?? 0));
    // In a day, autovacuum comes by many times. A simulated one is over in seconds.
    await withClient(database.adminUrl, (client) => client.query("vacuum analyze"));
    if (day % reportEveryDays === 0 || day === days) sizes.set(day, await measureSizes(database));
    if (day % 10 === 0) console.error(`day ${day} of ${days}`);
  }
  return { sizes, stepMs };
}

const describeSize = ({ rows, bytes }: Size): string =>
  `${rows.toLocaleString("en-US")} · ${(bytes / 1_000_000).toFixed(1)} MB`;

/** Prints every table on the days of report, and returns the growth of each table between the last two, in percent of its rows. */
function reportSizes(sizes: ReadonlyMap<number, Sizes>): Map<string, number> {
  const reported = [...sizes.keys()];
  const [before, last] = [sizes.get(reported.at(-2) ?? 0), sizes.get(reported.at(-1) ?? 0)];
  const growth = new Map<string, number>();
  const lines: Record<string, Record<string, string>> = {};
  for (const [name, size] of last ?? []) {
    const earlier = before?.get(name) ?? size;
    const percent = earlier.rows === 0 ? 0 : (100 * (size.rows - earlier.rows)) / earlier.rows;
    growth.set(name, percent);
    const cells = reported.map((day) => [
      `day ${day}`,
      describeSize(sizes.get(day)?.get(name) ?? { rows: 0, bytes: 0 }),
    ]);
    const bytesPercent = (100 * (size.bytes - earlier.bytes)) / earlier.bytes;
    lines[name] = {
      ...Object.fromEntries(cells),
      "growth of rows": `${percent.toFixed(1)} %`,
      "of bytes": `${bytesPercent.toFixed(1)} %`,
    };
  }
  console.table(lines);
  return growth;
}

/** Invokes at a steady rate, in turn beside nothing and beside housekeeping with as much to do as it can in one go. */
async function compareInvokes(stops: Stops, database: DurablePostgres): Promise<Figures> {
  const valkey = await startValkey();
  stops.add(valkey.kill);
  await withClient(database.adminUrl, takeRunsAgain);
  const perch = await startInstallation({
    database,
    enginePartitions: 2,
    settings: installationSettings({ valkeyUrl: valkey.url }),
  });
  stops.add(perch.stop);
  const { headers } = await createOrganisationsWithAgent(database, perch.url, "perch/echo");
  const target: PostTarget = {
    url: `${perch.url}/v1/agents/bench/invoke`,
    headers,
    body: JSON.stringify({ message: "hello" }),
  };
  await checkAnswers(target, '"response":"hello"');
  const sendFor = async (ms: number) => {
    const until = performance.now() + ms;
    return sendSteadily(target, invokesPerSecond, () => performance.now() >= until);
  };
  await sendFor(5000);
  const [quiet, beside] = [[] as number[], [] as number[]];
  const stepMs = new Map<string, number>();
  for (let round = 0; round < rounds; round++) {
    await withClient(database.adminUrl, (client) => seedBacklog(client, backlog.agents, backlog.keys));
    await sleep(2000);
    const startedAt = performance.now();
    let isOver = false;
    const tick = runHousekeeping(database).finally(() => {
      isOver = true;
    });
    beside.push(...(await sendSteadily(target, invokesPerSecond, () => isOver)));
    for (const [step, ms] of await tick) stepMs.set(step, Math.max(ms, stepMs.get(step) ?? 0));
    const tookMs = performance.now() - startedAt;
    await sleep(2000);
    quiet.push(...(await sendFor(Math.max(tookMs, 5000))));
  }
  for (const [name, times] of [["quiet", quiet] as const, ["beside housekeeping", beside] as const])
    console.error(
      `invoke, ${name}: ${times.length} runs, p50 ${percentile(times, 0.5).toFixed(1)} ms, p99 ${percentile(times, 0.99).toFixed(1)} ms, longest ${Math.max(...times).toFixed(0)} ms`,
    );
  return {
    invoke_p99_ms_quiet: roundTo(1, percentile(quiet, 0.99)),
    invoke_p99_ms_beside_housekeeping: roundTo(1, percentile(beside, 0.99)),
    backlog_step_ms: Object.fromEntries([...stepMs].map(([step, ms]) => [step, Math.round(ms)])),
  };
}

/**
 * A busy day after another on a PostgreSQL whose clock begins in the past, each with a tick of housekeeping: what is stored has to
 * level off. Then, today, invokes beside housekeeping that has a backlog to delete.
 */
export async function housekeeping(): Promise<Figures> {
  if (!existsSync(library)) throw new Error(`${library} is missing. Run: apt-get install libfaketime`);
  const stops = createStops();
  try {
    let daysBehind = days;
    const database = await startDurablePostgres({ clock: { library, daysBehind: () => daysBehind } });
    stops.add(database.drop);
    await runCommand(database, ["migrate"]);
    const { sizes, stepMs } = await simulateDays(database, async () => {
      daysBehind--;
      await database.restart();
    });
    const growth = reportSizes(sizes);
    const grown = [...growth].filter(([, percent]) => percent > 5);
    return {
      tables: growth.size,
      growth_over_5_percent: Object.fromEntries(grown.map(([name, percent]) => [name, roundTo(1, percent)])),
      daily_step_ms: Object.fromEntries([...stepMs].map(([step, ms]) => [step, Math.round(ms)])),
      ...(await compareInvokes(stops, database)),
    };
  } finally {
    await stops.all();
  }
}
