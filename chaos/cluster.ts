import { type Balancer, startBalancer } from "@perch/testkit/installation/balancer.ts";
import { type DurablePostgres, startDurablePostgres } from "@perch/testkit/installation/durable-postgres.ts";
import { waitUntilRegistered } from "@perch/testkit/installation/engine-registration.ts";
import { createMasterKey, installationSettings } from "@perch/testkit/installation/installation-settings.ts";
import { type RestateCluster, startRestate } from "@perch/testkit/installation/restate-process.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { startValkey, type ValkeyProcess } from "@perch/testkit/installation/valkey-process.ts";
import { startWithholdingProxy, type WithholdingProxy } from "@perch/testkit/installation/withholding-proxy.ts";
import { startWebhookReceiver, type WebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import { exchange } from "@perch/testkit/services/processes.ts";
import { type CountingModel, startCountingModel } from "./counting-model.ts";
import { type EngineLeaders, partitionCount, watchLeaders } from "./engine-leaders.ts";
import { logProgress } from "./log-progress.ts";
import { createPerchProcess, type PerchProcess, runPerch } from "./perch-process.ts";

export interface Node extends PerchProcess {
  readonly port: number;
}

export interface Cluster {
  readonly apis: readonly Node[];
  readonly workers: readonly Node[];
  readonly balancer: Balancer;
  readonly engine: RestateCluster;
  readonly leaders: EngineLeaders;
  readonly postgres: DurablePostgres;
  readonly valkey: ValkeyProcess;
  /** Between Valkey and the first API node, and between Valkey and the first worker. */
  readonly valkeyProxies: { readonly api: WithholdingProxy; readonly worker: WithholdingProxy };
  readonly model: CountingModel;
  readonly receiver: WebhookReceiver;
  readonly apiUrls: readonly string[];
  readonly token: string;
  readonly stop: () => Promise<void>;
}

const isOk = (url: string) =>
  fetch(url, { signal: AbortSignal.timeout(2000) }).then(
    ({ ok }) => ok,
    () => false,
  );

/** A connection preface, which an HTTP/2 server answers with its settings. */
const speaksHttp2 = async (port: number) =>
  (await exchange(
    { url: new URL(`http://127.0.0.1:${port}`), defaultPort: port },
    Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])]),
  )) !== "";

/** Starts Perch as it runs on several machines; `stop` ends whatever was started. */
export async function startCluster(): Promise<Cluster> {
  const stops: (() => unknown)[] = [];
  const stop = async () => {
    for (const end of stops.toReversed()) await Promise.resolve(end()).catch((error: unknown) => console.error(error));
  };
  try {
    const model = await startCountingModel();
    stops.push(model.close);
    const receiver = await startWebhookReceiver();
    stops.push(receiver.close);
    const postgres = await startDurablePostgres();
    stops.push(postgres.drop);
    const valkey = await startValkey();
    stops.push(valkey.kill);
    const valkeyPorts = () => [Number(new URL(valkey.url).port)];
    const valkeyProxies = {
      api: await startWithholdingProxy(valkeyPorts),
      worker: await startWithholdingProxy(valkeyPorts),
    };
    stops.push(valkeyProxies.api.close, valkeyProxies.worker.close);
    /** The first of several nodes reaches Valkey through a proxy. */
    const valkeyUrlOf = (index: number, { port }: WithholdingProxy): string =>
      index === 0 ? `redis://127.0.0.1:${port}` : valkey.url;
    const engine = await startRestate(3, partitionCount);
    stops.push(engine.stop);
    const leaders = watchLeaders(engine);
    stops.push(leaders.stop);
    logProgress("started PostgreSQL, Valkey and three Restate nodes");

    const settings = {
      ...installationSettings({ database: postgres, valkeyUrl: valkey.url, engine, masterKey: createMasterKey() }),
      PERCH_SCRIPT_MODEL_URL: model.url,
      PERCH_WEBHOOK_ALLOW_LOOPBACK: "true",
      PERCH_WEBHOOK_RETRY_DELAY_SECONDS: "1,1,2,2,5,5,5,5,5",
      PERCH_RECONCILE_SECONDS: "10",
      PERCH_LOG_LEVEL: "warn",
    };
    await runPerch(settings, ["migrate"]);
    const token = await runPerch(settings, ["create-organisation", "--name", "Chaos", "--tier", "enterprise"]);

    const workerPorts = [await freePort(), await freePort()];
    const balancer = await startBalancer(workerPorts);
    stops.push(balancer.close);
    const workers = workerPorts.map((port, i): Node => {
      const valkeyUrl = valkeyUrlOf(i, valkeyProxies.worker);
      const own = {
        ...settings,
        PERCH_VALKEY_URL: valkeyUrl,
        PERCH_WORKER_PORT: String(port),
        PERCH_WORKER_URL: balancer.url,
      };
      return { port, ...createPerchProcess("work", own, () => speaksHttp2(port)) };
    });
    const apis = [await freePort(), await freePort()].map((port, i): Node => {
      const own = { ...settings, PERCH_VALKEY_URL: valkeyUrlOf(i, valkeyProxies.api), PERCH_PORT: String(port) };
      return { port, ...createPerchProcess("serve", own, () => isOk(`http://127.0.0.1:${port}/readyz`)) };
    });
    const nodes = [...workers, ...apis];
    stops.push(() => Promise.all(nodes.map((node) => node.kill())));
    await Promise.all(nodes.map((node) => node.start()));
    await waitUntilRegistered(engine);
    logProgress("started two API nodes and two workers");
    await leaders.waitUntilStable();
    logProgress(`the Restate nodes lead ${leaders.now()} partitions`);
    const apiUrls = apis.map(({ port }) => `http://127.0.0.1:${port}`);
    return {
      apis,
      workers,
      balancer,
      engine,
      leaders,
      postgres,
      valkey,
      valkeyProxies,
      model,
      receiver,
      apiUrls,
      token,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
