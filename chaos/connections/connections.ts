import { interruption } from "@perch/testkit/services/commands.ts";
import { logProgress } from "../log-progress.ts";
import type { Stops } from "../release-nodes.ts";
import { type Installation, startInstallation } from "./installation.ts";
import { outage } from "./outage.ts";
import { interleave, killDuringRefresh, refreshOnce, revokeGrant } from "./scenarios.ts";
import type { Result, Scene } from "./scene.ts";
import { createTenant, type Person } from "./users.ts";

interface ConnectionOptions {
  readonly short: boolean;
  readonly json: boolean;
  /** How many interleaved runs; 2,000 unless given. */
  readonly runs: number | undefined;
}

interface Plan {
  readonly runs: number;
  readonly atOnce: number;
  readonly outageSeconds: number;
  /** A worker's claim to refresh lasts longer than all of CI's form. */
  readonly killsWorkers: boolean;
}

const fullPlan: Plan = { runs: 2000, atOnce: 100, outageSeconds: 60, killsWorkers: true };
const shortPlan: Plan = { runs: 60, atOnce: 40, outageSeconds: 4, killsWorkers: false };

/** Two people, each in a browser of their own, connect their accounts by clicking. */
async function connectPeople(installation: Installation): Promise<Scene> {
  const tenant = await createTenant(installation);
  const open = async (userId: string, login: string): Promise<Person> => {
    const browser = await installation.browser.newContext();
    browser.setDefaultTimeout(30_000);
    return { userId, login, browser };
  };
  const [ada, bob] = [await open("user-1", "ada"), await open("user-2", "bob")];
  const connections = { ada: await tenant.connect(ada), bob: await tenant.connect(bob) };
  logProgress("two users have consented in Chromium");
  return { installation, tenant, ada, bob, connections };
}

async function* playScenes(scene: Scene, plan: Plan): AsyncGenerator<Result> {
  yield await interleave(scene, plan.runs);
  yield await refreshOnce(scene, plan.atOnce);
  yield await outage(scene, plan.outageSeconds);
  if (plan.killsWorkers) yield await killDuringRefresh(scene);
  yield await revokeGrant(scene);
}

/**
 * Connects the accounts of two users and runs their agent for both: in turn, with expired tokens, while the provider is
 * down, while workers are killed, and after a consent was withdrawn. Returns whether every promise was kept.
 */
export async function runConnections({ short, json, runs }: ConnectionOptions): Promise<boolean> {
  const stops: Stops = [];
  const stop = async () => {
    for (const end of stops.toReversed()) await Promise.resolve(end()).catch((error: unknown) => console.error(error));
  };
  interruption.signal.addEventListener("abort", () => void stop().finally(() => process.exit(130)));
  try {
    const base = short ? shortPlan : fullPlan;
    const plan = { ...base, runs: runs ?? base.runs };
    const installation = await startInstallation(stops);
    logProgress("started PostgreSQL, Valkey, the engine, two API nodes, two workers, a provider and an MCP server");
    const scene = await connectPeople(installation);
    const results: Result[] = [];
    for await (const result of playScenes(scene, plan)) results.push(result);
    const problems = results.flatMap((result) => result.problems);
    for (const line of problems.slice(0, 40)) logProgress(line);
    const verdict = Object.assign({}, ...results.map(({ figures }) => figures), { problems: problems.length });
    if (json) console.log(JSON.stringify(verdict));
    else console.table(verdict);
    return problems.length === 0;
  } finally {
    await stop();
  }
}
