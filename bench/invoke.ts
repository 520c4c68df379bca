import { startRestate } from "../scripts/testbed/restate-process.ts";
import { createScratchDatabase } from "../scripts/testbed/scratch-database.ts";
import { runCommand, startServer } from "../scripts/testbed/server-process.ts";
import { createOrganisationsWithAgent } from "./bench-organisations.ts";
import { startChild } from "./child-process.ts";
import { latencies, median, type PostTarget, postThroughput } from "./load.ts";

const rounds = 4;
const seconds = 4;
const message = JSON.stringify({ message: "hello" });
const slowScript = JSON.stringify({ steps: [{ delay_ms: 200, reply: "done" }] });

/** Measures both targets in turn and returns the ratio of the medians. */
async function ratio(label: string, ours: PostTarget, other: PostTarget, connections: number): Promise<number> {
  const measured: [number[], number[]] = [[], []];
  for (const target of [ours, other]) await postThroughput(target, connections, 2);
  for (let round = 0; round < rounds; round++) {
    measured[0].push(await postThroughput(ours, connections, seconds));
    measured[1].push(await postThroughput(other, connections, seconds));
  }
  const [mine, theirs] = measured.map(median) as [number, number];
  console.error(`${label} at concurrency ${connections}: ${mine} runs/s, the other ${theirs}`);
  return Math.round((mine / theirs) * 100) / 100;
}

/** Invoke, authenticated, durable and recorded, against the bare engine with one journaled step, and against a route that only waits. */
export async function invoke(): Promise<Record<string, number>> {
  const engine = await startRestate(1, 4);
  const database = await createScratchDatabase();
  await runCommand(database, ["migrate"]);
  const settings = {
    PERCH_RESTATE_INGRESS_URL: engine.ingressUrls.join(","),
    PERCH_RESTATE_ADMIN_URL: engine.adminUrls.join(","),
    PERCH_WORKER_PORT: "0",
    PERCH_DATABASE_MAX_CONNECTIONS: "20",
  };
  const server = await startServer(database, settings, "all");
  const bareEngine = await startChild("bare-engine.ts");
  const bareServer = await startChild("bare-server.ts");
  try {
    const uri = `http://127.0.0.1:${bareEngine.line}`;
    await fetch(`${engine.adminUrls[0]}/deployments`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ uri }),
    });
    const { headers } = await createOrganisationsWithAgent(database, server.url, "perch/echo");
    const ours = { url: `${server.url}/v1/agents/bench/invoke`, headers, body: message };
    const bare = {
      url: `${engine.ingressUrls[0]}/restate/call/Bare/run`,
      headers: [{}],
      body: message,
      fresh: "idempotency-key",
    };
    const c16 = await ratio("echo", ours, bare, 16);
    const c64 = await ratio("echo", ours, bare, 64);
    const [p50Ours, p50Bare] = [[] as number[], [] as number[]];
    for (let round = 0; round < 5; round++) {
      p50Ours.push(median(await latencies(ours, 60)));
      p50Bare.push(median(await latencies(bare, 60)));
    }
    for (const each of headers) {
      const patch = {
        method: "PATCH",
        headers: { ...each, "content-type": "application/json" },
        body: JSON.stringify({ model: "perch/script", instructions: slowScript }),
      };
      await fetch(`${server.url}/v1/agents/bench`, patch);
    }
    const slow = await ratio(
      "a 200 ms model",
      ours,
      { url: `${bareServer.line}/slow`, headers: [{}], body: message },
      64,
    );
    return {
      throughput_ratio_c16: c16,
      throughput_ratio_c64: c64,
      ratio_200ms_c64: slow,
      p50_overhead_ms_c1: Math.round((median(p50Ours) - median(p50Bare)) * 100) / 100,
    };
  } finally {
    await bareServer.stop();
    await bareEngine.stop();
    await server.stop();
    await engine.stop();
    await database.drop();
  }
}
