import { startBalancer } from "@perch/testkit/installation/balancer.ts";
import { createMasterKey, installationSettings } from "@perch/testkit/installation/installation-settings.ts";
import { type RestateCluster, startRestate } from "@perch/testkit/installation/restate-process.ts";
import { acceptsConnections, freePort } from "@perch/testkit/installation/server-process.ts";
import { startValkey } from "@perch/testkit/installation/valkey-process.ts";
import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { startWebhookReceiver, type WebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import { type CountingModel, startCountingModel } from "../counting-model.ts";
import { partitionCount } from "../engine-leaders.ts";
import { isOk } from "../is-ok.ts";
import { createPerchProcess, runPerch } from "../perch-process.ts";
import { type BackedUpPostgres, startBackedUpPostgres } from "./backups.ts";

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the drill reads a few fields of many answers.
  readonly data: any;
}

/** An installation that loses disks: an API node and two workers as processes, with parts of their own. */
export interface Site {
  readonly postgres: BackedUpPostgres;
  readonly engine: RestateCluster;
  readonly model: CountingModel;
  readonly receiver: WebhookReceiver;
  /** The tool that a deployment waits for while it is slow, and the receiver of webhooks while it is down. */
  readonly faults: { isToolSlow: boolean; isReceiverDown: boolean };
  readonly toolUrl: string;
  readonly call: (method: string, path: string, body?: object, headers?: Record<string, string>) => Promise<Answer>;
  readonly perch: (...args: string[]) => Promise<string>;
  readonly start: () => Promise<void>;
  /** SIGKILL of all processes of Perch. */
  readonly kill: () => Promise<void>;
}

const reconcileSeconds = 2;

export async function startSite(stops: (() => unknown)[]): Promise<Site> {
  const faults = { isToolSlow: false, isReceiverDown: false };
  const model = await startCountingModel();
  stops.push(model.close);
  const receiver = await startWebhookReceiver((_, reply) => {
    reply.statusCode = faults.isReceiverDown ? 500 : 200;
    reply.end();
  });
  stops.push(receiver.close);
  const tool = await startToolServer(async () => {
    while (faults.isToolSlow) await new Promise((resolve) => setTimeout(resolve, 50));
    return undefined;
  });
  stops.push(tool.close);
  const postgres = await startBackedUpPostgres();
  stops.push(postgres.drop);
  const valkey = await startValkey();
  stops.push(valkey.kill);
  const engine = await startRestate(1, partitionCount);
  stops.push(engine.stop);
  const [apiPort, ...workerPorts] = [await freePort(), await freePort(), await freePort()];
  const balancer = await startBalancer(workerPorts);
  stops.push(balancer.close);
  const settings = {
    ...installationSettings({ database: postgres, valkeyUrl: valkey.url, engine, masterKey: createMasterKey() }),
    PERCH_SCRIPT_MODEL_URL: model.url,
    PERCH_WEBHOOK_ALLOW_LOOPBACK: "true",
    PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: "127.0.0.0/8",
    PERCH_WEBHOOK_RETRY_DELAY_SECONDS: "3,3,3,3,3,3",
    PERCH_WEBHOOK_SWEEP_INTERVAL_SECONDS: "1",
    PERCH_RECONCILE_SECONDS: String(reconcileSeconds),
    PERCH_LOG_LEVEL: "warn",
  };
  const url = `http://127.0.0.1:${apiPort}`;
  const api = createPerchProcess("serve", { ...settings, PERCH_PORT: String(apiPort) }, () => isOk(`${url}/readyz`));
  const workers = workerPorts.map((port) => {
    const own = { ...settings, PERCH_WORKER_PORT: String(port), PERCH_WORKER_URL: balancer.url };
    return createPerchProcess("work", own, () => acceptsConnections(port));
  });
  const processes = [...workers, api];
  const kill = async () => void (await Promise.all(processes.map((each) => each.kill())));
  stops.push(kill);
  await runPerch(settings, ["migrate"]);
  const token = await runPerch(settings, ["create-organisation", "--name", "Restore", "--tier", "enterprise"]);
  return {
    postgres,
    engine,
    model,
    receiver,
    faults,
    toolUrl: tool.url,
    call: async (method, path, body, headers = {}) => {
      const response = await fetch(`${url}/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get("content-type")?.includes("json");
      return { status: response.status, data: isJson ? JSON.parse(text).data : text };
    },
    perch: (...args) => runPerch(settings, args),
    start: async () => void (await Promise.all(processes.map((each) => each.start()))),
    kill,
  };
}
