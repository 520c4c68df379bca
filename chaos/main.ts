import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { interruption, stopOnSignals } from "../scripts/services/commands.ts";
import { startClients } from "./clients.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { readRecorded } from "./database-records.ts";
import { fullPlan, injectFaults, shortPlan } from "./faults.ts";
import { logProgress } from "./log-progress.ts";
import { countCalls } from "./model-calls.ts";
import { logFile } from "./perch-process.ts";
import { compare, isClean, toVerdict, type Verdict } from "./verdict.ts";

const { values: options } = parseArgs({
  options: { json: { type: "boolean", default: false }, short: { type: "boolean", default: false } },
});
const minInvocations = options.short ? 300 : 2000;
const agent = "chaos";

async function createAgent({ apiUrls, token }: Cluster): Promise<void> {
  const response = await fetch(`${apiUrls[0]}/v1/agents`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ name: agent, model: "perch/script" }),
  });
  if (!response.ok) throw new Error(`Creating the agent failed: ${response.status} ${await response.text()}`);
}

async function runChaos(cluster: Cluster): Promise<Verdict> {
  interruption.signal.throwIfAborted();
  await createAgent(cluster);
  const clients = startClients({ ...cluster, agent, count: 20 });
  const { sent } = clients;
  const isAnswered = ({ answers }: { answers: readonly unknown[] }) => answers.length > 0;
  const report = () => logProgress(`${sent.filter(isAnswered).length} of ${sent.length} invocations answered`);
  const reports = setInterval(report, 5000);
  const faults = await injectFaults(cluster, options.short ? shortPlan : fullPlan);
  while (sent.length < minInvocations) await sleep(200, undefined, { signal: interruption.signal });
  logProgress("all faults injected; waiting for the clients to finish");
  await clients.finish();
  report();
  await clients.resendAnswered();
  clearInterval(reports);
  logProgress("every answered key was sent once more");
  const findings = compare(sent, await readRecorded(cluster.postgres.adminUrl));
  const calls = countCalls(cluster.model.calls, sent, faults);
  const longestMs = Math.max(...sent.map(({ sentAtMs, answeredAtMs = sentAtMs }) => answeredAtMs - sentAtMs));
  const retries = sent.reduce((sum, { attempts }) => sum + attempts - 1, 0);
  logProgress(`${retries} retries by clients; the longest wait for an answer was ${(longestMs / 1000).toFixed(1)} s`);
  logProgress(`model calls: ${calls.calls}, repeated: ${calls.repeated}, of unknown runs: ${calls.unknownRunCalls}`);
  for (const { name, repeated, maxRepeated } of calls.byFault)
    logProgress(`${name}: ${repeated} calls repeated, ${maxRepeated} at most`);
  for (const list of [findings.lost, findings.different, findings.outOfOrder, calls.beyondFaults]) {
    for (const line of list.slice(0, 20)) logProgress(line);
  }
  return toVerdict(sent.length, faults.length, findings, calls);
}

stopOnSignals();
logProgress(`server log: ${logFile}`);
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
