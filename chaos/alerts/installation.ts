import { type DurablePostgres, startDurablePostgres } from "@perch/testkit/installation/durable-postgres.ts";
import { createMasterKey, installationSettings } from "@perch/testkit/installation/installation-settings.ts";
import { type RestateCluster, startRestate } from "@perch/testkit/installation/restate-process.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { startValkey, type ValkeyProcess } from "@perch/testkit/installation/valkey-process.ts";
import { waitUntil } from "@perch/testkit/services/commands.ts";
import { newPublicId } from "../../packages/server/src/platform/ids.ts";
import { isOk } from "../is-ok.ts";
import { createPerchProcess, type PerchProcess, runPerch } from "../perch-process.ts";
import { type OutsideServer, startOutsideServer } from "./outside-server.ts";
import { createTenant, type Tenant } from "./tenant.ts";

export interface WatchedProcess extends PerchProcess {
  readonly url: string;
  readonly metricsPort: number;
  /** SIGTERM, as an operator stops it. */
  readonly stop: () => Promise<void>;
}

/** Everything that a case may break. */
export interface Installation {
  readonly postgres: DurablePostgres;
  readonly valkey: ValkeyProcess;
  readonly engine: RestateCluster;
  readonly outside: OutsideServer;
  readonly api: WatchedProcess;
  readonly worker: WatchedProcess;
  /** An organisation whose tier allows all that the cases need. */
  readonly tenant: Tenant;
  readonly createTenant: (name: string, tier: "free" | "pro" | "enterprise") => Promise<Tenant>;
  /** Runs a command of the server. */
  readonly run: (args: readonly string[], settings?: NodeJS.ProcessEnv) => Promise<string>;
  /** Starts a worker of another release beside the first. Prometheus reads it until it is stopped. */
  readonly startWorkerOf: (release: string) => Promise<WatchedProcess>;
  /** Starts API and worker of another release in one, beside the others. */
  readonly startAllOf: (release: string) => Promise<WatchedProcess>;
}

type Role = "serve" | "work" | "all";
type Stops = (() => unknown)[];
type Watch = (ports: readonly number[]) => void;

async function createProcess(role: Role, settings: NodeJS.ProcessEnv): Promise<WatchedProcess> {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const workerPort = role === "all" ? await freePort() : port;
  const own = {
    ...(role !== "work" && { PERCH_PORT: String(port), PERCH_PUBLIC_URL: url }),
    ...(role !== "serve" && {
      PERCH_WORKER_PORT: String(workerPort),
      PERCH_WORKER_URL: `http://127.0.0.1:${workerPort}`,
    }),
  };
  const started = createPerchProcess(role, { ...settings, ...own, PERCH_METRICS_PORT: String(metricsPort) }, () =>
    isOk(`${url}/readyz`),
  );
  const stop = async () => {
    const pid = started.pid();
    if (pid === undefined) return;
    process.kill(pid, "SIGTERM");
    if (!(await waitUntil(() => started.pid() === undefined, 60))) throw new Error(`${role} runs 60 s after SIGTERM`);
  };
  return { ...started, url, metricsPort, stop };
}

async function startParts(engineNodes: number, stops: Stops) {
  const outside = await startOutsideServer();
  stops.push(outside.close);
  const postgres = await startDurablePostgres();
  stops.push(postgres.drop);
  const valkey = await startValkey();
  stops.push(valkey.kill);
  const engine = await startRestate(engineNodes);
  stops.push(engine.stop);
  const settings: NodeJS.ProcessEnv = {
    ...installationSettings({ database: postgres, valkeyUrl: valkey.url, engine, masterKey: createMasterKey() }),
    PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: "127.0.0.0/8",
    PERCH_PROVIDERS: JSON.stringify({ outside: { type: "openai-compatible", base_url: `${outside.url}/v1` } }),
    // Runs that the engine has lost are found within seconds. Nothing else depends on this setting.
    PERCH_RECONCILE_SECONDS: "2",
    PERCH_LOG_LEVEL: "warn",
  };
  await runPerch(settings, ["migrate"]);
  return { outside, postgres, valkey, engine, settings };
}

/** Sign-ins get no further than the identity provider, so the organisation need not exist. */
const oidcAt = (issuer: string): string =>
  JSON.stringify({
    issuer,
    client_id: "perch",
    groups: [{ group: "admins", organisation: newPublicId("organisation"), role: "admin" }],
  });

/** Starts an installation of its own, and adds the functions that stop it to `stops`. */
export async function startInstallation(engineNodes: number, watch: Watch, stops: Stops): Promise<Installation> {
  const { settings, ...parts } = await startParts(engineNodes, stops);
  const processes: WatchedProcess[] = [];
  const watchRunning = () => watch(processes.map(({ metricsPort }) => metricsPort));
  const add = async (role: Role, own: NodeJS.ProcessEnv = {}) => {
    const added = await createProcess(role, { ...settings, ...own });
    stops.push(added.kill);
    await added.start();
    processes.push(added);
    watchRunning();
    return added;
  };
  const api = await add("serve", { PERCH_OIDC: oidcAt(parts.outside.url) });
  const worker = await add("work");
  const addUntilStopped = async (role: Role, release: string) => {
    const added = await add(role, { PERCH_RELEASE: release });
    const stop = async () => {
      await added.stop();
      processes.splice(processes.indexOf(added), 1);
      watchRunning();
    };
    return { ...added, stop };
  };
  const run = (args: readonly string[], own: NodeJS.ProcessEnv = {}) => runPerch({ ...settings, ...own }, args);
  const createTenantOf = async (name: string, tier: string) =>
    createTenant(api.url, await run(["create-organisation", "--name", name, "--tier", tier]));
  return {
    ...parts,
    api,
    worker,
    run,
    createTenant: createTenantOf,
    tenant: await createTenantOf("Watched", "enterprise"),
    startWorkerOf: (release) => addUntilStopped("work", release),
    startAllOf: (release) => addUntilStopped("all", release),
  };
}
