import { setTimeout as sleep } from "node:timers/promises";
import { listRunsLeft } from "@perch/testkit/installation/engine-invocations.ts";
import { findOnPath, interruption, Problem } from "@perch/testkit/services/commands.ts";
import { checkoutDir } from "@perch/testkit/services/layout.ts";
import { readRecorded, waitForDeliveries } from "../database-records.ts";
import { logProgress } from "../log-progress.ts";
import { checkFeatures } from "./features.ts";
import { type Installation, startInstallation } from "./installation.ts";
import { createAgents, type Load, type Sent, startLoad } from "./load.ts";
import { type Move, moveTo } from "./move.ts";
import { openRelease, type Release } from "./release.ts";
import { startFirst } from "./serving.ts";
import { judgeUpgrade, type Observed, type UpgradeVerdict } from "./verdict.ts";

interface UpgradeOptions {
  readonly short: boolean;
  readonly json: boolean;
  /** Only what new API nodes accept before their release is active. */
  readonly features: boolean;
  /** An image or a checkout; this checkout unless given. */
  readonly from: string | undefined;
  readonly to: string | undefined;
}

interface Plan {
  readonly callsPerSecond: number;
  readonly minSeconds: number;
  /** Seconds of load before the first change, between the two, and after the second. */
  readonly pauseSeconds: number;
  /** Whether an operator retires the old address before the workers are stopped. The engine has to be quiet for 30 s then. */
  readonly retires: boolean;
}

const fullPlan: Plan = { callsPerSecond: 50, minSeconds: 60, pauseSeconds: 8, retires: true };
const shortPlan: Plan = { callsPerSecond: 20, minSeconds: 15, pauseSeconds: 3, retires: false };

function requireTools(): void {
  const missing = ["haproxy", "valkey-server"].filter((tool) => !findOnPath(tool));
  if (missing.length === 0) return;
  throw new Problem(
    `Not on PATH: ${missing.join(", ")}. \`pnpm services up\` installs Valkey; for HAProxy: apt-get install haproxy`,
  );
}

/** Two checkouts of one version are two releases by name. */
async function openReleases({ from, to }: UpgradeOptions): Promise<readonly [Release, Release]> {
  const first = await openRelease(from ?? checkoutDir);
  const second = await openRelease(to ?? checkoutDir);
  if (first.name !== second.name) return [first, second];
  return [await openRelease(from ?? checkoutDir, "before"), await openRelease(to ?? checkoutDir, "after")];
}

function startReports({ sent }: Load): () => void {
  const report = () => {
    const answered = sent.filter(({ answers }) => answers.length > 0).length;
    const failed = sent.filter(({ failure }) => failure !== undefined).length;
    logProgress(`${answered} of ${sent.length} calls answered, ${failed} failed`);
  };
  const timer = setInterval(report, 5000);
  return () => {
    clearInterval(timer);
    report();
  };
}

/** Why the clients' SDK had to repeat attempts, with how many calls for each reason. */
function describeRetries(sent: readonly Sent[]): string {
  const reasons = Map.groupBy(
    sent.filter(({ attempts }) => attempts > 1),
    ({ lastRefusal }) => lastRefusal || "a stream that ended early",
  );
  return [...reasons].map(([reason, calls]) => `${calls.length} × ${reason.slice(0, 100)}`).join(", ") || "none";
}

/** There and back again under load. */
async function runMoves(installation: Installation, [first, second]: readonly [Release, Release], plan: Plan) {
  const pause = () => sleep(plan.pauseSeconds * 1000, undefined, { signal: interruption.signal });
  const serving = await startFirst(installation, first);
  const token = await first.run(installation.settings, [
    ...["create-organisation", "--name", "Upgrade", "--tier", "enterprise"],
  ]);
  await createAgents(installation, token);
  logProgress(`${first.name} serves; ${plan.callsPerSecond} calls per second from now on`);
  const load = startLoad(installation.haproxy.url, token, plan.callsPerSecond);
  const startedAt = performance.now();
  const stopReports = startReports(load);
  const moves: Move[] = [];
  try {
    await pause();
    const there = await moveTo(installation, serving, second, plan);
    moves.push(there.move);
    await pause();
    moves.push((await moveTo(installation, there.serving, first, plan)).move);
    await pause();
    const leftMs = plan.minSeconds * 1000 - (performance.now() - startedAt);
    if (leftMs > 0) await sleep(leftMs, undefined, { signal: interruption.signal });
  } finally {
    await load.finish();
    stopReports();
  }
  const loadSeconds = (performance.now() - startedAt) / 1000;
  logProgress(`calls that were retried: ${describeRetries(load.sent)}`);
  await load.resendAnswered();
  logProgress("every answered key was sent once more");
  return { sent: load.sent, moves, loadSeconds };
}

async function observe(
  installation: Installation,
  releases: readonly [Release, Release],
  plan: Plan,
): Promise<Observed> {
  const { sent, moves, loadSeconds } = await runMoves(installation, releases, plan);
  await waitForDeliveries(installation.database.adminUrl, 60);
  const runsLeft = await listRunsLeft(installation.engine, 30);
  const recorded = await readRecorded(installation.database.adminUrl);
  const received = new Set(installation.receiver.received.map(({ event }) => String(event.data.request_id)));
  const { uncleanEnds, model } = installation;
  return { sent, moves, loadSeconds, recorded, received, runsLeft, uncleanEnds, calls: model.calls };
}

function print({ moves, ...figures }: UpgradeVerdict, json: boolean): void {
  if (json) console.log(JSON.stringify({ ...figures, moves }));
  else for (const table of [figures, moves]) console.table(table);
}

/** Changes releases under load, there and back, and counts the losses of clients. Returns whether there are none. */
export async function runUpgrade(options: UpgradeOptions): Promise<boolean> {
  requireTools();
  const stops: (() => unknown)[] = [];
  const stop = async () => {
    for (const end of stops.toReversed()) await Promise.resolve(end()).catch((error: unknown) => console.error(error));
  };
  interruption.signal.addEventListener("abort", () => void stop().finally(() => process.exit(130)));
  try {
    const releases = await openReleases(options);
    logProgress(
      `from ${releases[0].name} (${releases[0].version}) to ${releases[1].name} (${releases[1].version}) and back`,
    );
    if (options.features) {
      const { refused_before, accepted_after, ...zeros } = await checkFeatures(releases, stops);
      const figures = { refused_before, accepted_after, ...zeros };
      if (options.json) console.log(JSON.stringify(figures));
      else console.table(figures);
      return Object.values(zeros).every((each) => each === 0);
    }
    const installation = await startInstallation(stops);
    logProgress("started a database, Valkey, an engine and HAProxy");
    const { verdict, lines, isClean } = judgeUpgrade(
      await observe(installation, releases, options.short ? shortPlan : fullPlan),
    );
    for (const line of lines) logProgress(line);
    print(verdict, options.json);
    return isClean;
  } finally {
    await stop();
  }
}
