import { setTimeout as sleep } from "node:timers/promises";
import { launchChromium } from "@perch/testkit/browsers/chromium.ts";
import { openContext } from "@perch/testkit/console/browser.ts";
import { startApiBalancer } from "@perch/testkit/installation/api-balancer.ts";
import { buildConsole } from "@perch/testkit/packaging/build-console.ts";
import { interruption, waitUntil } from "@perch/testkit/services/commands.ts";
import { createApi } from "../api-client.ts";
import { logProgress } from "../log-progress.ts";
import { runPerch } from "../perch-process.ts";
import { type Nodes, type Stops, startNodes } from "../release-nodes.ts";
import { createLineJudge, judgeGrowth, judgeRefreshes, type LineJudge, type TabSize } from "./judge.ts";
import { agent, createLoad, type Load } from "./load.ts";
import { type MetricsTab, openMetrics, openTail, type TailTab } from "./tabs.ts";

interface ConsoleOptions {
  readonly short: boolean;
  readonly json: boolean;
  /** How long the tabs stay open; 30 unless given. */
  readonly minutes: number | undefined;
}

const fullMinutes = 30;
const shortMinutes = 40 / 60;
const maxSampleEveryMs = 30_000;
const samples = 18;
/**
 * At least this much time passes for the charts between two samples, so that a short watch sees them refreshed, too.
 */
const minChartsMs = 12_000;
/** Almost as many lines as a tab stores. From here on the tab drops older lines, and must not grow any more. */
const firstLines = 4900;
const killedForMs = 4000;

interface Scene {
  readonly nodes: Nodes;
  readonly load: Load;
  readonly lines: LineJudge;
  readonly tail: TailTab;
  readonly metrics: MetricsTab;
}

async function openScene(stops: Stops): Promise<Scene> {
  buildConsole();
  const nodes = await startNodes(stops, 1, () => ({}));
  const balancer = await startApiBalancer(nodes.apiUrls);
  stops.push(balancer.stop);
  logProgress("started PostgreSQL, Valkey, the engine, two API nodes behind HAProxy, and two workers");
  const token = await runPerch(nodes.settings, [
    "create-organisation",
    ...["--name", "The long watch", "--tier", "enterprise"],
  ]);
  const api = createApi([balancer.url]);
  await api.post("/v1/agents", token, { name: agent, model: "perch/echo" });
  const load = createLoad(api, token);
  const browser = await launchChromium();
  stops.push(() => browser.close());
  const context = await openContext(browser, balancer.url, { apiKey: token });
  context.setDefaultTimeout(60_000);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const tail = await openTail(context);
  const lines = createLineJudge();
  await load.burst(firstLines);
  // Once more lines come, the tab drops the first.
  await seeAll({ load, lines, tail });
  load.start();
  const metrics = await openMetrics(context);
  return { nodes, load, lines, tail, metrics };
}

/** Waits until the tail has all that was written, and looks at it. */
async function seeAll({ load, lines, tail }: Pick<Scene, "load" | "lines" | "tail">): Promise<void> {
  let numbers: number[] = [];
  await waitUntil(async () => {
    numbers = await tail.copyNumbers();
    return numbers.at(-1) === load.written();
  }, 30);
  lines.add(numbers);
}

/** The node whose stream the tail reads, without a warning. */
async function killServingNode({ nodes, tail }: Scene): Promise<string[]> {
  const index = tail.servedBy();
  const node = index === undefined ? undefined : nodes.apis[index];
  if (!node) return [`no API node is known to serve the tail (${index})`];
  const before = tail.streams();
  await node.kill();
  logProgress(`${node.name}, which served the tail, is killed`);
  await sleep(killedForMs);
  await node.start("before");
  const isBack = await waitUntil(async () => tail.streams() > before, 30);
  logProgress(`${node.name} is back; the tail goes on at API node ${(tail.servedBy() ?? -1) + 1}`);
  return isBack ? [] : ["the tail did not go on after its node was killed"];
}

interface Sample {
  readonly tail: TabSize;
  readonly metrics: TabSize;
}

const describeSize = ({ heapBytes, nodes, listeners }: TabSize): string =>
  `${(heapBytes / 1024 / 1024).toFixed(1)} MB, ${nodes} nodes, ${listeners} listeners`;

async function sample({ tail, metrics, lines }: Scene): Promise<Sample> {
  lines.add(await tail.copyNumbers());
  const sizes = { tail: await tail.measure(), metrics: await metrics.measure() };
  logProgress(`line ${lines.seen()}; tail ${describeSize(sizes.tail)}; metrics ${describeSize(sizes.metrics)}`);
  return sizes;
}

async function keepWatch(scene: Scene, durationMs: number) {
  const everyMs = Math.min(maxSampleEveryMs, durationMs / samples);
  const startedMs = performance.now();
  const taken: Sample[] = [];
  let killing: Promise<string[]> | undefined;
  while (performance.now() - startedMs < durationMs) {
    const nextMs = startedMs + (taken.length + 1) * everyMs;
    await sleep(Math.max(0, nextMs - performance.now()), undefined, { signal: interruption.signal });
    await scene.metrics.skip(Math.max(0, minChartsMs - everyMs));
    taken.push(await sample(scene));
    if (performance.now() - startedMs > durationMs * 0.3) killing ??= killServingNode(scene);
  }
  return { taken, problems: (await killing) ?? ["no node was killed"] };
}

/** The line that was written last must be seen, too. */
async function finish(scene: Scene): Promise<string[]> {
  const { load, lines } = scene;
  await load.stop();
  await seeAll(scene);
  return lines.seen() === load.written() ? [] : [`the last line is ${lines.seen()} of ${load.written()}`];
}

/**
 * Opens two tabs of the console under load: a tail, and charts. Kills the node that serves the tail, and returns
 * whether every line was seen once and in order, and whether neither tab grew.
 */
export async function runConsole({ short, json, minutes }: ConsoleOptions): Promise<boolean> {
  const stops: Stops = [];
  const stop = async () => {
    for (const end of stops.toReversed()) await Promise.resolve(end()).catch((error: unknown) => console.error(error));
  };
  interruption.signal.addEventListener("abort", () => void stop().finally(() => process.exit(130)));
  try {
    const scene = await openScene(stops);
    const { load, lines, tail, metrics } = scene;
    const watched = await keepWatch(scene, (minutes ?? (short ? shortMinutes : fullMinutes)) * 60_000);
    const problems = [
      ...watched.problems,
      ...judgeRefreshes("metrics", metrics.refreshedMs, metrics.nowMs()),
      ...(await finish(scene)),
      ...lines.problems,
      ...judgeGrowth(
        "tail",
        watched.taken.map((size) => size.tail),
      ),
      ...judgeGrowth(
        "metrics",
        watched.taken.map((size) => size.metrics),
      ),
      ...tail.problems,
      ...metrics.problems,
    ];
    for (const problem of problems.slice(0, 40)) logProgress(problem);
    const last = watched.taken.at(-1);
    const verdict = {
      lines: load.written(),
      runs: load.runs(),
      streams: tail.streams(),
      samples: watched.taken.length,
      tail: last ? describeSize(last.tail) : "",
      metrics: last ? describeSize(last.metrics) : "",
      problems: problems.length,
    };
    if (json) console.log(JSON.stringify(verdict));
    else console.table(verdict);
    logProgress(
      problems.length === 0
        ? `all ${load.written()} lines were seen once and in order, and both tabs stayed as large as they were`
        : `${problems.length} problems`,
    );
    return problems.length === 0;
  } finally {
    await stop();
  }
}
