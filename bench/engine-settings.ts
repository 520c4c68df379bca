import { startRestate } from "@perch/testkit/installation/restate-process.ts";
import { startBareService } from "./bare-service.ts";
import { type Contender, compare, type Figures, roundsOf } from "./comparison.ts";
import { createStops, type Stops } from "./stops.ts";

interface EngineSettings {
  readonly partitions: number;
  readonly environment?: NodeJS.ProcessEnv;
}

/** All keep the engine's guarantees on one node. Those without a number of partitions in their name have the number of development. */
const settings = {
  "partitions-4": { partitions: 4 },
  "partitions-2": { partitions: 2 },
  "partitions-1": { partitions: 1 },
  "partitions-24": { partitions: 24 },
  "threads-1": { partitions: 4, environment: { RESTATE_DEFAULT_THREAD_POOL_SIZE: "1" } },
  "no-statistics": {
    partitions: 4,
    environment: {
      RESTATE_DISABLE_PROMETHEUS: "true",
      RESTATE_ROCKSDB_PERF_LEVEL: "disable",
      RESTATE_WORKER__STORAGE__ROCKSDB_DISABLE_STATISTICS: "true",
      RESTATE_LOG_SERVER__ROCKSDB_DISABLE_STATISTICS: "true",
    },
  },
  "no-compression": {
    partitions: 4,
    environment: {
      RESTATE_WORKER__STORAGE__ROCKSDB_DISABLE_WAL_COMPRESSION: "true",
      RESTATE_LOG_SERVER__ROCKSDB_DISABLE_WAL_COMPRESSION: "true",
    },
  },
  "local-log": { partitions: 4, environment: { RESTATE_BIFROST__DEFAULT_PROVIDER: "local" } },
  "large-batches": { partitions: 4, environment: { RESTATE_WORKER__MAX_COMMAND_BATCH_SIZE: "256" } },
} as const satisfies Record<string, EngineSettings>;

export type EngineSettingsName = keyof typeof settings;
export const engineSettingsNames = Object.keys(settings) as EngineSettingsName[];
export const partitionCounts: readonly EngineSettingsName[] = ["partitions-4", "partitions-2", "partitions-1"];

/** An engine with these settings and a bare service of its own. */
async function startEngine(stops: Stops, name: EngineSettingsName): Promise<Contender> {
  const { partitions, environment = {} }: EngineSettings = settings[name];
  const engine = await startRestate(1, partitions, environment);
  stops.add(engine.stop);
  return (await startBareService(stops, engine))("run", name);
}

/** The bare engine with other settings, against the first of those named. */
export async function engineSettings(options: {
  readonly short: boolean;
  readonly names: readonly EngineSettingsName[];
}): Promise<Figures> {
  const stops = createStops();
  try {
    const contenders: Contender[] = [];
    for (const name of options.names) contenders.push(await startEngine(stops, name));
    const compared = await compare("bare engine", contenders, 64, roundsOf(options));
    const [first, ...others] = options.names;
    return Object.fromEntries([
      ...others.map((name) => [`${name}_ratio_c64`, first ? compared.reportRatio(name, first).ratio : 0]),
      ["foreign_share_c64", compared.foreignShare],
      ...options.names.map((name) => [`cpu_ms_per_run_${name}`, compared.cpuMs(name)]),
    ]);
  } finally {
    await stops.all();
  }
}
