import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { startInstallation } from "@perch/testkit/installation/installation.ts";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { createOrganisationsWithAgent } from "./bench-organisations.ts";

const streamCount = 1000;
const words = Array.from({ length: 60 }, (_, i) => `word-${i}`).join(" ");
const script = JSON.stringify({ steps: [{ reply: words, word_delay_ms: 500 }] });

const memoryKiB = (pid: number | undefined): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);

const percentile = (values: number[], q: number): number =>
  Math.round(values.toSorted((a, b) => a - b)[Math.floor(values.length * q)] ?? 0);

interface StreamClient {
  firstTokenMs: number | undefined;
  text: string;
  readonly ended: Promise<void>;
}

/** Opens a stream and records only the text and the time of the first token. */
function openStream(agent: Agent, url: string, headers: Record<string, string>): StreamClient {
  const startedAt = performance.now();
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  const client: StreamClient = { firstTokenMs: undefined, text: "", ended };
  let pending = "";
  const onEvent = (event: string): void => {
    const data = /^data: (.*)$/m.exec(event)?.[1];
    if (!data || !event.includes("event: token")) return;
    client.firstTokenMs ??= performance.now() - startedAt;
    const token = JSON.parse(data) as { offset: number; text: string };
    client.text = client.text.slice(0, token.offset) + token.text;
  };
  const post = request(url, {
    method: "POST",
    agent,
    headers: { ...headers, accept: "text/event-stream", "content-type": "application/json" },
  });
  post.on("error", reject);
  post.on("response", (response) => {
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => {
      const events = (pending + chunk).split("\n\n");
      pending = events.pop() ?? "";
      events.forEach(onEvent);
    });
    response.on("end", resolve);
    response.on("error", reject);
  });
  post.end(JSON.stringify({ message: "hello" }));
  return client;
}

/** A thousand open streams on one API node: the memory per stream, and how many receive the full text. */
export async function streams(): Promise<Record<string, number>> {
  const perch = await startInstallation({
    workers: 1,
    enginePartitions: 2,
    settings: { PERCH_VALKEY_URL: serviceUrl("PERCH_VALKEY_URL"), PERCH_DATABASE_MAX_CONNECTIONS: "20" },
  });
  const pid = perch.apis[0]?.child.pid;
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  try {
    const { headers } = await createOrganisationsWithAgent(perch.database, perch.url, "perch/echo");
    const [own = {}] = headers;
    const invoke = `${perch.url}/v1/agents/bench/invoke`;
    // Warm up first, so that one-time allocations are not counted as the streams'.
    await Promise.all(Array.from({ length: 200 }, () => openStream(agent, invoke, own).ended));
    await fetch(`${perch.url}/v1/agents/bench`, {
      method: "PATCH",
      headers: { ...own, "content-type": "application/json" },
      body: JSON.stringify({
        model: "perch/script",
        instructions: script,
        limits: { max_concurrent_runs: streamCount, timeout_seconds: 300 },
      }),
    });
    await sleep(2000);
    const before = memoryKiB(pid);
    const all: StreamClient[] = [];
    for (let i = 0; i < streamCount; i++) {
      all.push(openStream(agent, invoke, own));
      if (i % 20 === 19) await sleep(100);
    }
    for (let waited = 0; waited < 60 && all.some(({ firstTokenMs }) => firstTokenMs === undefined); waited++)
      await sleep(500);
    const open = all.filter(({ firstTokenMs }) => firstTokenMs !== undefined).length;
    const during = memoryKiB(pid);
    console.error(`${open} streams open: ${during} KiB, ${before} KiB before`);
    await Promise.all(all.map(({ ended }) => ended));
    const first = all.map(({ firstTokenMs = 0 }) => firstTokenMs);
    return {
      streams_open: open,
      full_texts: all.filter(({ text }) => text === words).length,
      memory_kib_per_stream: Math.round(((during - before) / streamCount) * 10) / 10,
      first_token_p50_ms: percentile(first, 0.5),
      first_token_p99_ms: percentile(first, 0.99),
    };
  } finally {
    agent.destroy();
    await perch.stop();
  }
}
