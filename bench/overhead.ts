import { createScratchDatabase } from "../scripts/testbed/scratch-database.ts";
import { runCommand, startServer } from "../scripts/testbed/server-process.ts";
import { organisationsWithAgent } from "./bench-organisations.ts";
import { startChild } from "./child-process.ts";
import { latencies, median, throughput } from "./load.ts";

const rounds = 5;
const seconds = 3;

/** Get Agent with authentication, limits, Valkey, validation and envelope, against a bare Fastify route with the same bytes. */
export async function overhead(): Promise<Record<string, number>> {
  const database = await createScratchDatabase();
  await runCommand(database, ["migrate"]);
  const server = await startServer(database);
  const { headers, body } = await organisationsWithAgent(database, server.url, "perch/echo");
  const target = { url: `${server.url}/v1/agents/bench`, headers };
  const bare = await startChild("bare-server.ts", { BARE_BODY: body });
  try {
    const plain = { url: `${bare.line}/v1/agents/bench`, headers: target.headers };
    const full: number[] = [];
    const empty: number[] = [];
    await throughput(plain, 64, 2);
    await throughput(target, 64, 2);
    for (let round = 1; round <= rounds; round++) {
      empty.push(await throughput(plain, 64, seconds));
      full.push(await throughput(target, 64, seconds));
      console.error(`round ${round}: bare ${empty.at(-1)} requests/s, Get Agent ${full.at(-1)}`);
    }
    const [p50Bare, p50Full] = [[] as number[], [] as number[]];
    for (let round = 0; round < 10; round++) {
      p50Bare.push(median(await latencies(plain, 100)));
      p50Full.push(median(await latencies(target, 100)));
    }
    const round = (value: number) => Math.round(value * 100) / 100;
    return {
      throughput_ratio_c64: round(median(full) / median(empty)),
      p50_overhead_ms_c1: round(median(p50Full) - median(p50Bare)),
    };
  } finally {
    await bare.stop();
    await server.stop();
    await database.drop();
  }
}
