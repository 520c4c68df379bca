import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { listRunsLeft } from "@perch/testkit/installation/engine-invocations.ts";
import { countHeldSlots } from "@perch/testkit/installation/held-slots.ts";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { createAgents, createOrganisationsWithAgent } from "../bench-organisations.ts";
import { type Figures, roundTo } from "../comparison.ts";
import { collectGarbage } from "../inspector.ts";
import { type Installation, startInstallation } from "../installation.ts";
import { startLoad } from "../load.ts";
import { createStops } from "../stops.ts";

const connections = 64;
const settleSeconds = 5;

/** Nothing is called at this address: its runs wait before. */
const pay = {
  type: "http",
  name: "pay",
  description: "Pays an amount.",
  method: "POST",
  url: "http://127.0.0.1:9/pay",
  parameters: { type: "object", properties: { amount: { type: "number" }, to: { type: "string" } } },
  approval: "always",
};
const script = (tool: string) =>
  JSON.stringify({
    steps: [
      { reply: "I pay it now.", tool_calls: [{ name: tool, arguments: { amount: 12, to: "{message}" } }] },
      { reply: "done" },
    ],
  });
/** Both make one tool call; the tool of the second is built in, and needs nobody. */
const waitingAgent = { name: "waits", model: "perch/script", instructions: script("pay"), tools: [pay] };
const endingAgent = { name: "ends", model: "perch/script", instructions: script("perch_echo"), tools: [pay] };

type Headers = readonly Readonly<Record<string, string>>[];

/** Sends runs until so many were answered. 202 says that a run waits. */
async function sendRuns(url: string, headers: Headers, agent: string, count: number): Promise<number> {
  const startedMs = performance.now();
  const target = {
    url: `${url}/v1/agents/${agent}/invoke`,
    headers: headers.map((own) => ({ ...own, prefer: "wait=60" })),
    body: JSON.stringify({ message: "Pay the invoice of October, which is attached. ".repeat(10) }),
  };
  const load = await startLoad(target, connections, 0);
  // Those under way are answered too.
  while (load.completed() < count - connections) await sleep(5);
  await load.stop();
  return (performance.now() - startedMs) / 1000;
}

const rssMegabytes = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => {
    const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return sum + Number(kib) / 1024;
  }, 0);

/** Of each worker's heap, without garbage. */
const heapMegabytes = async (inspectorPorts: readonly number[]): Promise<number> => {
  const bytes = await Promise.all(inspectorPorts.map(collectGarbage));
  return bytes.reduce((sum, each) => sum + each, 0) / 1024 / 1024;
};

const workerPids = ({ parts }: Installation): number[] =>
  Object.entries(parts).flatMap(([name, pids]) => (name.startsWith("worker") ? pids() : []));

const countRows = ({ database }: Installation) =>
  withClient(database.adminUrl, async (client) => {
    const { rows } = await client.query<{ runs: number; open: number; bytes: number }>(
      `select (select count(*)::int from waiting_runs where status = 'waiting') as runs,
              (select count(*)::int from approvals where status = 'open') as open,
              (select coalesce(avg(length(sealed)), 0)::int from waiting_runs) as bytes`,
    );
    return rows[0] ?? { runs: 0, open: 0, bytes: 0 };
  });

interface Memory {
  readonly heap: number;
  readonly rss: number;
}

/** A process gives memory back a while after its garbage was collected, if at all. */
async function measureMemory(installation: Installation, inspectorPorts: readonly number[]): Promise<Memory> {
  await sleep(settleSeconds * 1000);
  const heap = await heapMegabytes(inspectorPorts);
  await sleep(settleSeconds * 1000);
  return { heap: roundTo(1, heap), rss: Math.round(rssMegabytes(workerPids(installation))) };
}

/** What runs that wait hold of the engine, of the slots, and of a worker's memory, beside as many runs that have ended. */
export async function waitingRuns(count: number): Promise<Figures> {
  const stops = createStops();
  try {
    const inspectorPorts = [await freePort(), await freePort()];
    const installation = await startInstallation(stops, "split", (index) => ({
      NODE_OPTIONS: `--inspect=127.0.0.1:${inspectorPorts[index]}`,
    }));
    const { url, database, valkeyUrl, engine } = installation;
    const { headers } = await createOrganisationsWithAgent(database, url, "perch/echo");
    for (const agent of [endingAgent, waitingAgent]) await createAgents(url, headers, agent);
    // The same number of runs first, so that compilers, caches and heaps are as large as such a load makes them.
    const endedSeconds = await sendRuns(url, headers, "ends", count);
    const before = await measureMemory(installation, inspectorPorts);
    const waitingSeconds = await sendRuns(url, headers, "waits", count);
    const [runsInEngine, slots] = [await listRunsLeft(engine, 10), await countHeldSlots(valkeyUrl, database.adminUrl)];
    const after = await measureMemory(installation, inspectorPorts);
    const { runs, open, bytes } = await countRows(installation);
    const [load = 0] = loadavg();
    console.error(
      `${count} runs that ended took ${endedSeconds.toFixed(1)} s, ${runs} that wait ${waitingSeconds.toFixed(1)} s`,
    );
    const show = ({ heap, rss }: Memory) => `${heap} MiB of heap in ${rss} MiB`;
    console.error(`workers: ${show(before)} before, ${show(after)} with ${runs} runs that wait`);
    return {
      waiting_runs: runs,
      open_approvals: open,
      sealed_bytes_per_run: bytes,
      runs_in_engine: runsInEngine.length,
      slots_held: slots,
      worker_heap_mib: after.heap,
      worker_heap_ratio: roundTo(2, after.heap / before.heap),
      worker_rss_mib: after.rss,
      worker_rss_ratio: roundTo(2, after.rss / before.rss),
      load_average: roundTo(1, load),
    };
  } finally {
    await stops.all();
  }
}
