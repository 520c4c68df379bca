import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createScratchDatabase, type ScratchDatabase } from "../scripts/testbed/scratch-database.ts";
import { runCommand, startServer } from "../scripts/testbed/server-process.ts";
import { type LoadTarget, latencies, median, throughput } from "./load.ts";

const rounds = 5;
const seconds = 3;
const organisations = 16;

async function startBare(body: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "bare-server.ts")], {
    env: { ...process.env, BARE_BODY: body },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return {
    url: line.toString().trim(),
    stop: async () => {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

/** Many organisations with an agent each: one alone would soon meet its rate limit. */
async function prepare(database: ScratchDatabase, url: string): Promise<{ target: LoadTarget; body: string }> {
  const headers = [];
  for (let i = 0; i < organisations; i++) {
    const key = await runCommand(database, ["create-organisation", "--name", `Bench ${i}`, "--tier", "enterprise"]);
    const authorization = { authorization: `Bearer ${key}` };
    const body = JSON.stringify({ name: "bench", model: "perch/echo", instructions: "Answer briefly." });
    await fetch(`${url}/v1/agents`, {
      method: "POST",
      headers: { ...authorization, "content-type": "application/json" },
      body,
    });
    headers.push(authorization);
  }
  const agent = `${url}/v1/agents/bench`;
  return {
    target: { url: agent, headers },
    body: await fetch(agent, { headers: headers[0] ?? {} }).then((response) => response.text()),
  };
}

/** Get Agent with authentication, limits, Valkey, validation and envelope, against a bare Fastify route with the same bytes. */
export async function overhead(): Promise<Record<string, number>> {
  const database = await createScratchDatabase();
  await runCommand(database, ["migrate"]);
  const server = await startServer(database);
  const { target, body } = await prepare(database, server.url);
  const bare = await startBare(body);
  try {
    const plain = { url: `${bare.url}/v1/agents/bench`, headers: target.headers };
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
