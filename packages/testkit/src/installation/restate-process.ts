import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { restateBinary } from "../services/restate.ts";
import { freePort } from "./server-process.ts";

export interface RestateNode {
  readonly ingressUrl: string;
  readonly adminUrl: string;
  readonly metricsUrl: string;
  readonly pid: () => number | undefined;
  readonly start: () => Promise<void>;
  /** SIGKILL: data that is neither replicated nor written is lost. */
  readonly kill: () => Promise<void>;
  /** Kills it and removes all its data. */
  readonly loseDisk: () => Promise<void>;
}

export interface RestateCluster {
  readonly nodes: readonly RestateNode[];
  readonly ingressUrls: readonly string[];
  readonly adminUrls: readonly string[];
  readonly stop: () => Promise<void>;
}

interface NodePlan {
  readonly name: string;
  readonly nodePort: number;
  readonly ingressPort: number;
  readonly adminPort: number;
}

interface ClusterPlan {
  readonly folder: string;
  readonly partitions: number;
  readonly settings: NodeJS.ProcessEnv;
}

const answers = (url: string) =>
  fetch(url, { signal: AbortSignal.timeout(1000) }).then(
    ({ ok }) => ok,
    () => false,
  );

async function waitUntilHealthy({ ingressPort, adminPort }: NodePlan, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + 60_000;
  let said = "";
  const keepOutput = (text: Buffer) => {
    said = (said + text.toString("utf8")).slice(-4000);
  };
  child.stdout?.on("data", keepOutput);
  child.stderr?.on("data", keepOutput);
  while (Date.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`Restate stopped with ${child.exitCode ?? child.signalCode}: ${said}`);
    }
    const healthy = await Promise.all([
      answers(`http://127.0.0.1:${adminPort}/health`),
      answers(`http://127.0.0.1:${ingressPort}/restate/health`),
    ]);
    if (healthy.every(Boolean)) return;
    await sleep(100);
  }
  throw new Error(`Restate is not healthy after 60 s: ${said}`);
}

function environmentOf(
  plan: NodePlan,
  plans: readonly NodePlan[],
  { folder, partitions, settings }: ClusterPlan,
): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(RESTATE_|RUST_LOG$)/.test(name));
  return {
    ...Object.fromEntries(inherited),
    DO_NOT_TRACK: "1",
    RESTATE_CLUSTER_NAME: "perch-test",
    RESTATE_NODE_NAME: plan.name,
    RESTATE_LISTEN_MODE: "tcp",
    RESTATE_BASE_DIR: join(folder, plan.name),
    RESTATE_AUTO_PROVISION: String(plan === plans[0]),
    RESTATE_DEFAULT_REPLICATION: String(Math.min(plans.length, 2)),
    RESTATE_METADATA_CLIENT__ADDRESSES: JSON.stringify(plans.map(({ nodePort }) => `http://127.0.0.1:${nodePort}`)),
    RESTATE_BIND_ADDRESS: `127.0.0.1:${plan.nodePort}`,
    RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${plan.nodePort}`,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${plan.ingressPort}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${plan.adminPort}`,
    RESTATE_DEFAULT_NUM_PARTITIONS: String(partitions),
    RESTATE_LOG_FILTER: "error",
    RESTATE_LOG_DISABLE_ANSI_CODES: "true",
    ...settings,
  };
}

function createNode(plan: NodePlan, plans: readonly NodePlan[], cluster: ClusterPlan): RestateNode {
  let child: ChildProcess | undefined;
  const kill = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  return {
    ingressUrl: `http://127.0.0.1:${plan.ingressPort}`,
    adminUrl: `http://127.0.0.1:${plan.adminPort}`,
    metricsUrl: `http://127.0.0.1:${plan.nodePort}/metrics`,
    pid: () => child?.pid,
    start: async () => {
      child = spawn(restateBinary(), ["--no-logo"], {
        env: environmentOf(plan, plans, cluster),
        stdio: ["ignore", "pipe", "pipe"],
      });
      await waitUntilHealthy(plan, child);
    },
    kill,
    loseDisk: async () => {
      await kill();
      rmSync(join(cluster.folder, plan.name), { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Starts a separate engine: one node, or three with a replication factor of two. `settings` are added to its environment. */
export async function startRestate(
  count = 1,
  partitions = count > 1 ? 6 : 1,
  settings: NodeJS.ProcessEnv = {},
): Promise<RestateCluster> {
  const folder = mkdtempSync(join(tmpdir(), "perch-restate-"));
  const plans: NodePlan[] = [];
  for (let i = 1; i <= count; i++) {
    plans.push({
      name: `node-${i}`,
      nodePort: await freePort(),
      ingressPort: await freePort(),
      adminPort: await freePort(),
    });
  }
  const nodes = plans.map((plan) => createNode(plan, plans, { folder, partitions, settings }));
  await Promise.all(nodes.map((node) => node.start()));
  return {
    nodes,
    ingressUrls: nodes.map(({ ingressUrl }) => ingressUrl),
    adminUrls: nodes.map(({ adminUrl }) => adminUrl),
    stop: async () => {
      await Promise.all(nodes.map((node) => node.kill()));
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
