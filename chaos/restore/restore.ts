import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { findOnPath, interruption, Problem } from "@perch/testkit/services/commands.ts";
import { logProgress } from "../log-progress.ts";
import { type Open, observe, waitUntilSettled } from "./observe.ts";
import { beginWork, goOn, prepare } from "./scenario.ts";
import { type Site, startSite } from "./site.ts";
import { compareWithManual, type Found, type Loss } from "./what-is-back.ts";

interface RestoreOptions {
  readonly short: boolean;
  readonly json: boolean;
  /** Runs only this loss, instead of those of the plan. */
  readonly only?: string | undefined;
}

/** The order matters, because the log of a newly created server does not fit into the archive of the one before. */
const order: readonly Loss[] = ["engine", "both", "postgres"];
const fullPlan = { losses: order, before: 40, after: 500, canarySeconds: 400, settleSeconds: 120 };
const shortPlan = { losses: order.slice(0, 1), before: 8, after: 24, canarySeconds: 100, settleSeconds: 60 };

interface CaseResult {
  readonly loss: Loss;
  readonly found: Found;
  readonly open: Open;
  readonly problems: readonly string[];
  readonly settledSeconds: number;
}

/** Deletes the disks of this loss, and restores them as the manual describes. */
async function loseAndRestore(site: Site, loss: Loss, restorePoint: string): Promise<void> {
  const { postgres, engine } = site;
  const [node] = engine.nodes;
  await site.kill();
  if (loss !== "engine") await postgres.loseDisk();
  if (loss !== "postgres") await node?.loseDisk();
  site.faults.isToolSlow = false;
  logProgress(`${loss}: lost; restoring`);
  if (loss === "postgres") await postgres.restoreDump();
  if (loss === "both") await postgres.restoreBase(restorePoint);
  if (loss !== "postgres") await node?.start();
  await site.perch("migrate");
  await site.start();
  // A delivery that the engine lost is made 15 minutes after it was due. These pass at once.
  await withClient(postgres.adminUrl, (client) =>
    client.query("update deliveries set sweep_after = now() where status = 'pending'"),
  );
}

async function runCase(site: Site, loss: Loss, plan: typeof fullPlan): Promise<CaseResult> {
  const { postgres } = site;
  if (loss === "both") await postgres.takeBaseBackup();
  const seen = await prepare(site, loss, plan.before, plan.canarySeconds);
  await beginWork(site, seen);
  if (loss === "postgres") await postgres.takeDump();
  const restorePoint = loss === "both" ? await postgres.archiveLog() : "";
  logProgress(`${loss}: backup taken; ${plan.after} more runs`);
  await goOn(site, seen, plan.after);
  await loseAndRestore(site, loss, restorePoint);
  const startedAt = performance.now();
  logProgress(`${loss}: started again; waiting until nothing is open`);
  const { open, engine } = await waitUntilSettled(site, plan.settleSeconds);
  const settledSeconds = Math.round((performance.now() - startedAt) / 100) / 10;
  const found = await observe(site, seen);
  const stuck = Object.entries(open).flatMap(([what, count]) => (count > 0 ? [`${count} ${what} are open`] : []));
  const problems = [...compareWithManual(loss, found), ...stuck, ...engine];
  return { loss, found, open, problems, settledSeconds };
}

function print(results: readonly CaseResult[], json: boolean): void {
  if (json) {
    console.log(JSON.stringify(results));
    return;
  }
  const [first] = results;
  const rows = Object.keys(first?.found ?? {}).map((what) => [
    what,
    Object.fromEntries(results.map(({ loss, found }) => [loss, found[what as keyof Found]])),
  ]);
  console.table(Object.fromEntries(rows));
}

/** Deletes disks, restores them with the commands of the manual, and compares the result with the manual. */
export async function runRestore({ short, json, only }: RestoreOptions): Promise<boolean> {
  if (!findOnPath("valkey-server")) throw new Problem("Not on PATH: valkey-server. `pnpm services up` installs it.");
  if (only !== undefined && !order.some((each) => each === only))
    throw new Problem(`--only: unknown ${only}. Known, one at a time: ${order.join(", ")}`);
  const stops: (() => unknown)[] = [];
  const stop = async () => {
    for (const end of stops.toReversed()) await Promise.resolve(end()).catch((error: unknown) => console.error(error));
  };
  interruption.signal.addEventListener("abort", () => void stop().finally(() => process.exit(130)));
  const plan = short ? shortPlan : fullPlan;
  try {
    const site = await startSite(stops);
    await site.start();
    logProgress("started an API node, two workers, PostgreSQL, Valkey and the engine");
    const results: CaseResult[] = [];
    for (const loss of only === undefined ? plan.losses : order.filter((each) => each === only)) {
      const result = await runCase(site, loss, plan);
      logProgress(`${loss}: nothing was open after ${result.settledSeconds} s; ${result.problems.length} problems`);
      for (const problem of result.problems) logProgress(`${loss}: ${problem}`);
      results.push(result);
    }
    print(results, json);
    return results.every(({ problems }) => problems.length === 0);
  } finally {
    await stop();
  }
}
