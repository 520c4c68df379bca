import { createMasterKey, installationSettings } from "@perch/testkit/installation/installation-settings.ts";
import { type RestateCluster, startRestate } from "@perch/testkit/installation/restate-process.ts";
import { createScratchDatabase, type ScratchDatabase } from "@perch/testkit/installation/scratch-database.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { startValkey } from "@perch/testkit/installation/valkey-process.ts";
import { startWebhookReceiver, type WebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import { type CountingModel, startCountingModel } from "../counting-model.ts";
import { type Haproxy, startHaproxy } from "./haproxy.ts";
import type { ReleaseProcess } from "./release.ts";

/** The settings that the processes of all releases share. */
export interface Installation {
  readonly settings: NodeJS.ProcessEnv;
  readonly database: ScratchDatabase;
  readonly engine: RestateCluster;
  readonly model: CountingModel;
  readonly receiver: WebhookReceiver;
  readonly haproxy: Haproxy;
  /** The ports of API nodes that HAProxy knows and that no node uses now. */
  readonly freeApiPorts: number[];
  /** The address at which the engine reaches the workers of each release, and the ports of the workers behind it. */
  readonly workerAddresses: Map<string, { readonly url: string; readonly ports: readonly number[] }>;
  /** Everything that was started of a release, so that it ends with the installation. */
  readonly processes: ReleaseProcess[];
  /** Processes that did not end with success when they were stopped. */
  readonly uncleanEnds: string[];
  readonly stops: (() => unknown)[];
}

const enginePartitions = 4;

export async function startInstallation(stops: (() => unknown)[]): Promise<Installation> {
  const model = await startCountingModel();
  stops.push(model.close);
  const receiver = await startWebhookReceiver();
  stops.push(receiver.close);
  const database = await createScratchDatabase();
  stops.push(database.drop);
  const valkey = await startValkey();
  stops.push(valkey.kill);
  const engine = await startRestate(1, enginePartitions);
  stops.push(engine.stop);
  // Two nodes, and one more while it takes the place of another.
  const freeApiPorts = [await freePort(), await freePort(), await freePort()];
  const haproxy = await startHaproxy(freeApiPorts);
  stops.push(haproxy.stop);
  const processes: ReleaseProcess[] = [];
  stops.push(() => Promise.all(processes.map(({ kill }) => kill())));
  const settings = {
    ...installationSettings({ database, valkeyUrl: valkey.url, engine, masterKey: createMasterKey() }),
    PERCH_HOST: "127.0.0.1",
    PERCH_WORKER_HOST: "127.0.0.1",
    PERCH_SCRIPT_MODEL_URL: model.url,
    PERCH_WEBHOOK_ALLOW_LOOPBACK: "true",
    PERCH_LOG_LEVEL: "info",
  };
  return {
    settings,
    database,
    engine,
    model,
    receiver,
    haproxy,
    freeApiPorts,
    workerAddresses: new Map(),
    processes,
    uncleanEnds: [],
    stops,
  };
}
