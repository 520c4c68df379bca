import { setTimeout as sleep } from "node:timers/promises";
import { logProgress } from "../log-progress.ts";
import { runPerch } from "../perch-process.ts";
import type { Release } from "../release-nodes.ts";
import type { Installation } from "./installation.ts";

const downSeconds = 1;

/** All parts of Perch and the engine die at once, and come back as this release. PostgreSQL has all there is of the runs. */
async function killEverything({ workers, apis, engine }: Installation, release: Release): Promise<void> {
  await Promise.all([...workers, ...apis, ...engine.nodes].map(({ kill }) => kill()));
  await sleep(downSeconds * 1000);
  await Promise.all(engine.nodes.map(({ start }) => start()));
  await Promise.all([...workers, ...apis].map(({ start }) => start(release)));
}

/** Kills everything so many times. With the second time, or the only one, another release takes over. */
export async function killWhileRunsWait(installation: Installation, rounds: number): Promise<void> {
  const upgradeIn = Math.min(2, rounds);
  for (let round = 1; round <= rounds; round++) {
    const release = round < upgradeIn ? "before" : "after";
    const startedMs = performance.now();
    if (round === upgradeIn) await runPerch({ ...installation.settings, PERCH_RELEASE: release }, ["activate-release"]);
    await killEverything(installation, release);
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    logProgress(`killed workers, API nodes and the engine; back after ${seconds} s as the release "${release}"`);
  }
}

interface Fault {
  readonly name: string;
  readonly inject: () => Promise<void>;
}

function faultsOf({ workers, apis, engine }: Installation, short: boolean): Fault[] {
  const replace = (name: string, kill: () => Promise<void>, start: () => Promise<void>): Fault => ({
    name: `SIGKILL of ${name}`,
    inject: async () => {
      await kill();
      await sleep(downSeconds * 1000);
      await start();
    },
  });
  const nodeFault = (node: Installation["workers"][number] | undefined): Fault[] =>
    node ? [replace(node.name, node.kill, () => node.start("after"))] : [];
  const engineFault = engine.nodes.slice(0, 1).map((node) => replace("an engine node", node.kill, node.start));
  const once = [...nodeFault(workers[0]), ...nodeFault(apis[1])];
  return short ? once : [...once, ...engineFault, ...nodeFault(workers[1]), ...nodeFault(apis[0])];
}

/** Kills one part after another while decisions are made, spread over `count()` from 0 to `total`. Returns how many. */
export async function killWhileDecided(
  installation: Installation,
  { total, count, short }: { readonly total: number; readonly count: () => number; readonly short: boolean },
): Promise<number> {
  const faults = faultsOf(installation, short);
  const recoveries: Promise<void>[] = [];
  for (const [i, { name, inject }] of faults.entries()) {
    const at = Math.ceil((total * (i + 1)) / (faults.length + 1));
    while (count() < at) await sleep(5);
    logProgress(`${name} with decision ${count()} of ${total}`);
    // The next part may die before this one is back.
    recoveries.push(inject());
  }
  await Promise.all(recoveries);
  return faults.length;
}
