import { setTimeout as sleep } from "node:timers/promises";
import { findPartitions, listRunsLeft } from "@perch/testkit/installation/engine-invocations.ts";
import { interruption, Problem, stopOnSignals } from "@perch/testkit/services/commands.ts";
import { parsePublicId } from "../packages/server/src/platform/ids.ts";
import { runAlerts } from "./alerts/alerts.ts";
import { runApprovals } from "./approvals/approvals.ts";
import { agentNames, type SentRequest, startClients } from "./clients.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { runConnections } from "./connections/connections.ts";
import { runConsole } from "./console/console.ts";
import { readRecorded, waitForDeliveries } from "./database-records.ts";
import { partitionCount } from "./engine-leaders.ts";
import { type Fault, type FaultKind, fullPlan, injectFaults, shortPlan, withOnly } from "./faults.ts";
import { logProgress } from "./log-progress.ts";
import { type CallCount, countCalls, type Interruption } from "./model-calls.ts";
import { runNeighbour } from "./neighbour.ts";
import { logFile } from "./perch-process.ts";
import { runRestore } from "./restore/restore.ts";
import { watchSlots } from "./slot-watch.ts";
import { type StarvedTime, watchStarvation } from "./starvation.ts";
import { compareThroughput } from "./throughput.ts";
import { describeRun } from "./unexplained-calls.ts";
import { runUpgrade } from "./upgrade/upgrade.ts";
import { readOptions } from "./usage.ts";
import { compare, isClean, toVerdict, type Verdict } from "./verdict.ts";

const options = readOptions();
const minInvocations = options.short || options.only ? 300 : 2000;
/** Without batches of records the suite would not test them. */
const minLargestBatch = 4;

async function post({ apiUrls, token }: Cluster, path: string, body: object): Promise<void> {
  const response = await fetch(`${apiUrls[0]}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`POST ${path} failed: ${response.status} ${await response.text()}`);
}

async function createAgents(cluster: Cluster): Promise<void> {
  // A fault on a slow machine may take minutes, and a run that ends at its own limit is not a lost one.
  const limits = { timeout_seconds: 600 };
  for (const name of agentNames) await post(cluster, "/v1/agents", { name, model: "perch/script", limits });
  const [, agent_id] = agentNames;
  await post(cluster, "/v1/webhooks", { url: cluster.receiver.url, events: ["agent.completed"], agent_id });
}

/** Counts the model calls against the workers that were killed, the leaders that moved and the times without a processor. */
async function countModelCalls(
  { model, engine, leaders, postgres }: Cluster,
  sent: readonly SentRequest[],
  faults: readonly Fault[],
  starved: readonly StarvedTime[],
): Promise<CallCount> {
  const interruptions: Interruption[] = [
    ...faults.flatMap(({ name, interruption: own }) => (own ? [{ cause: name, ...own }] : [])),
    ...starved.map((time) => ({ cause: "other machines took much of this one", ...time })),
    ...leaders.moves.map((move) => ({ cause: "move of a partition to another Restate node", ...move })),
  ];
  const byId = await findPartitions(engine, partitionCount);
  const partitions = new Map(
    model.calls.flatMap(({ requestId }) => {
      const partition = byId.get(parsePublicId("request", requestId) ?? "");
      return partition === undefined ? [] : [[requestId, partition] as const];
    }),
  );
  const count = countCalls(model.calls, sent, interruptions, partitions);
  for (const requestId of new Set(count.beyondFaults.map((line) => line.split(":", 1)[0] ?? ""))) {
    const about = { calls: model.calls, moves: leaders.moves, partition: partitions.get(requestId) };
    logProgress(await describeRun(requestId, { ...about, adminUrl: postgres.adminUrl }));
  }
  return count;
}

/** The effect of a fault on clients: those with requests under way at that time, or sent before the repair. */
function describeClientsDuring({ name, fromMs, repairedMs }: Fault, sent: readonly SentRequest[]): string {
  const touched = sent.filter(
    ({ sentAtMs, answeredAtMs = Number.POSITIVE_INFINITY }) => sentAtMs <= repairedMs && answeredAtMs >= fromMs,
  );
  const refusals = touched.map(({ lastRefusal }) => lastRefusal).filter((refusal) => refusal !== "");
  const waits = touched.map(({ sentAtMs, answeredAtMs = sentAtMs }) => answeredAtMs - sentAtMs).sort((a, b) => a - b);
  const p99 = (waits[Math.ceil(waits.length * 0.99) - 1] ?? 0) / 1000;
  const example = refusals.length > 0 ? `, such as ${refusals[0]?.slice(0, 100)}` : "";
  return `${name}: ${touched.length} invocations, p99 ${p99.toFixed(1)} s, ${refusals.length} failed requests${example}`;
}

async function runChaos(cluster: Cluster): Promise<Verdict> {
  interruption.signal.throwIfAborted();
  await createAgents(cluster);
  const starvation = watchStarvation();
  const clients = startClients({ ...cluster, count: 20 });
  const { sent } = clients;
  const isAnswered = ({ answers }: { answers: readonly unknown[] }) => answers.length > 0;
  const report = () => logProgress(`${sent.filter(isAnswered).length} of ${sent.length} invocations answered`);
  const reports = setInterval(report, 5000);
  const plan = options.short ? shortPlan : fullPlan;
  const injected = new Set<FaultKind>();
  const slots = watchSlots(cluster, () => injected.has("api"));
  const chosen = options.only ? withOnly(plan, options.only.split(",")) : plan;
  const faults = await injectFaults(cluster, clients, chosen, (kind) => injected.add(kind));
  while (sent.length < minInvocations) await sleep(200, undefined, { signal: interruption.signal });
  logProgress("all faults injected; waiting for the clients to finish");
  await clients.finish();
  report();
  await clients.resendAnswered();
  clearInterval(reports);
  logProgress("every answered key was sent once more");
  await waitForDeliveries(cluster.postgres.adminUrl, 60);
  await slots.settle();
  const heldTooLong = await slots.stop(faults);
  const recorded = await readRecorded(cluster.postgres.adminUrl);
  logProgress(`one statement recorded up to ${recorded.largestBatch} runs`);
  if (recorded.largestBatch < minLargestBatch) throw new Error("No batch of records was large enough to test anything");
  const received = new Set(cluster.receiver.received.map(({ event }) => String(event.data.request_id)));
  const findings = compare(sent, recorded, received);
  starvation.stop();
  const calls = await countModelCalls(cluster, sent, faults, starvation.times());
  const runsLeft = await listRunsLeft(cluster.engine, 30);
  const longestMs = Math.max(...sent.map(({ sentAtMs, answeredAtMs = sentAtMs }) => answeredAtMs - sentAtMs));
  const retries = sent.reduce((sum, { attempts }) => sum + attempts - 1, 0);
  for (const fault of faults) logProgress(describeClientsDuring(fault, sent));
  logProgress(`${retries} retries by clients; the longest wait for an answer was ${(longestMs / 1000).toFixed(1)} s`);
  for (const [reason, times] of clients.failures) logProgress(`${times} times: ${reason}`);
  logProgress(`model calls: ${calls.calls}, repeated: ${calls.repeated}, of unknown runs: ${calls.unknownRunCalls}`);
  for (const { cause, repeated, maxRepeated } of calls.byCause)
    logProgress(`${cause}: ${repeated} calls repeated, ${maxRepeated} at most`);
  logProgress(`a slot was held without a run for ${slots.outliving.longestSeconds().toFixed(1)} s at the longest`);
  const throughput = compareThroughput(sent, faults, chosen.pauseSeconds);
  for (const { name, ratio } of throughput) logProgress(`${name}: throughput afterwards ${ratio.toFixed(2)} of before`);
  const left = { runs: runsLeft, slots: heldTooLong, refusedForNothing: clients.refusedForNothing };
  for (const list of [...Object.values(findings), calls.beyondFaults, ...Object.values(left)]) {
    for (const line of list.slice(0, 20)) logProgress(line);
  }
  return toVerdict(sent.length, faults.length, findings, calls, { ...left, throughput });
}

stopOnSignals();
logProgress(`server log: ${logFile}`);
/** Runs another form of the suite instead, and ends with it. */
async function endWith(form: Promise<boolean>): Promise<never> {
  const succeeded = await form.catch((error: unknown) => {
    console.error(error instanceof Problem ? error.message : error);
    return false;
  });
  process.exit(succeeded ? 0 : 1);
}
const { short, json, only, features, from, to } = options;
if (options.neighbour) await endWith(runNeighbour({ short, json, only }));
if (options.upgrade) await endWith(runUpgrade({ short, json, features, from, to }));
if (options.alerts) await endWith(runAlerts({ short, json, only }));
if (options.restore) await endWith(runRestore({ short, json, only }));
const runs = options.runs === undefined ? undefined : Number(options.runs);
if (options.approvals) await endWith(runApprovals({ short, json, runs }));
if (options.connections) await endWith(runConnections({ short, json, runs }));
const minutes = options.minutes === undefined ? undefined : Number(options.minutes);
if (options.console) await endWith(runConsole({ short, json, minutes }));
const cluster = await startCluster();
interruption.signal.addEventListener("abort", () => void cluster.stop().finally(() => process.exit(130)));
try {
  const verdict = await runChaos(cluster);
  if (options.json) console.log(JSON.stringify(verdict));
  else console.table(verdict);
  process.exitCode = isClean(verdict) ? 0 : 1;
} finally {
  await cluster.stop();
}
