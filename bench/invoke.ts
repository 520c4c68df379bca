import { randomUUID } from "node:crypto";
import { type BareService, startBareService } from "./bare-service.ts";
import { createAgents, createOrganisationsWithAgent } from "./bench-organisations.ts";
import { type BenchProcess, startChild } from "./child-process.ts";
import { type Contender, compare, type Figures, prefixed, type Rounds, roundsOf, roundTo } from "./comparison.ts";
import { type Installation, startInstallation } from "./installation.ts";
import { checkAnswers, latencies, median, type PostTarget } from "./load.ts";
import { measureStages } from "./run-stages.ts";
import { createStops, type Stops } from "./stops.ts";

export const invokeKinds = ["echo", "slow", "sessions", "streams", "tools", "split"] as const;
export type InvokeKind = (typeof invokeKinds)[number];

export interface InvokeOptions {
  readonly short: boolean;
  readonly kinds: readonly InvokeKind[];
  readonly stages: boolean;
}

const message = JSON.stringify({ message: "hello" });
const slowMs = 200;
const slowAgent = {
  name: "slow",
  model: "perch/script",
  instructions: JSON.stringify({ steps: [{ delay_ms: slowMs, reply: "done" }] }),
};
const toolSteps = [{ tool_calls: [{ name: "note", arguments: { text: "seen" } }] }, { reply: "done" }];
const toolAgent = (url: string) => ({
  name: "tools",
  model: "perch/script",
  instructions: JSON.stringify({ steps: toolSteps }),
  tools: [
    { type: "http", name: "note", description: "Takes a note.", method: "POST", url, parameters: { type: "object" } },
  ],
});

type Headers = PostTarget["headers"];

interface Testbed {
  readonly stops: Stops;
  readonly perch: Installation;
  readonly headers: Headers;
  readonly bareServer: BenchProcess;
  readonly rounds: Rounds;
}

const invokeTarget = (url: string, headers: Headers, agent = "bench"): PostTarget => ({
  url: `${url}/v1/agents/${agent}/invoke`,
  headers,
  body: message,
});

/** Every answer must contain this text, or the wrong thing would be measured. */
async function createContender(
  name: string,
  target: PostTarget,
  { parts, observer }: Pick<Installation, "parts" | "observer">,
  expected: string,
): Promise<Contender> {
  await checkAnswers(target, expected);
  return { name, target, parts, observe: () => observer.observe("use") };
}

const echoContender = ({ perch, headers }: Testbed): Promise<Contender> =>
  createContender("echo", invokeTarget(perch.url, headers), perch, '"response":"hello"');

async function measureEcho(testbed: Testbed, bareService: BareService, short: boolean): Promise<Figures> {
  const { rounds } = testbed;
  const ours = await echoContender(testbed);
  const bare = await bareService("run");
  const at16 = await compare("echo", [ours, bare], 16, rounds);
  // The same target under two names shows how far apart equal code is.
  const again: Contender = { ...ours, name: "echo again" };
  const at64 = await compare("echo", [ours, bare, again], 64, rounds);
  const [p50Ours, p50Bare] = [[] as number[], [] as number[]];
  for (let round = 0; round < rounds.count; round++) {
    p50Ours.push(median(await latencies(ours.target, short ? 30 : 60)));
    p50Bare.push(median(await latencies(bare.target, short ? 30 : 60)));
  }
  const equal = at64.reportRatio(ours.name, again.name);
  return {
    throughput_ratio_c16: at16.reportRatio(ours.name, bare.name).ratio,
    throughput_ratio_c64: at64.reportRatio(ours.name, bare.name).ratio,
    p50_overhead_ms_c1: roundTo(2, median(p50Ours) - median(p50Bare)),
    equal_code_ratio_c64: equal.ratio,
    equal_code_spread_c64: equal.spread,
    foreign_share_c64: at64.foreignShare,
    cpu_ms_per_run: at64.cpuMs(ours.name),
    cpu_ms_per_run_bare: at64.cpuMs(bare.name),
    ...prefixed("event_loop_c64", { ...at64.eventLoops(ours.name), ...at64.eventLoops(bare.name) }),
    idle_share_c64: at64.idleShare(ours.name),
    idle_share_c64_bare: at64.idleShare(bare.name),
  };
}

/** Connections start spread over the model's time: in lockstep, a cycle would be that time plus the whole burst. */
async function measureSlow(testbed: Testbed, bareService: BareService): Promise<Figures> {
  const { perch, headers, bareServer, rounds } = testbed;
  await createAgents(perch.url, headers, slowAgent);
  const ours = await createContender("slow", invokeTarget(perch.url, headers, "slow"), perch, '"response":"done"');
  const bare = await bareService("runSlowly");
  const target: PostTarget = { url: `${bareServer.line}/slow`, headers: [{}], body: message };
  const waiting = await createContender(
    "bare server",
    target,
    { ...perch, parts: { server: bareServer.pids } },
    "done",
  );
  const compared = await compare(`a ${slowMs} ms model`, [ours, bare, waiting], 64, rounds, slowMs);
  return {
    ratio_200ms_c64: compared.reportRatio(ours.name, bare.name).ratio,
    ratio_200ms_c64_bare_server: compared.reportRatio(ours.name, waiting.name).ratio,
    foreign_share_200ms: compared.foreignShare,
    cpu_ms_per_run_200ms: compared.cpuMs(ours.name),
    cpu_ms_per_run_200ms_bare: compared.cpuMs(bare.name),
  };
}

/** How to set up each kind of run that is compared with the plain echo. */
const variants: Record<Exclude<InvokeKind, "echo" | "slow">, (testbed: Testbed) => Promise<Contender>> = {
  sessions: ({ perch, headers }) => {
    const body = () => JSON.stringify({ message: "hello", context: { session_id: randomUUID() } });
    const target: PostTarget = { ...invokeTarget(perch.url, headers), body };
    return createContender("sessions", target, perch, '"response":"hello"');
  },
  streams: ({ perch, headers }) => {
    const target = invokeTarget(
      perch.url,
      headers.map((each) => ({ ...each, accept: "text/event-stream" })),
    );
    return createContender("streams", target, perch, "event: token");
  },
  tools: async ({ perch, headers, bareServer }) => {
    await createAgents(perch.url, headers, toolAgent(`${bareServer.line}/tool`));
    const parts = { ...perch.parts, tool: bareServer.pids };
    return createContender(
      "tools",
      invokeTarget(perch.url, headers, "tools"),
      { ...perch, parts },
      '"response":"done"',
    );
  },
  split: async ({ stops }) => {
    const split = await startInstallation(stops, "split");
    const { headers } = await createOrganisationsWithAgent(split.database, split.url, "perch/echo");
    return createContender("split", invokeTarget(split.url, headers), split, '"response":"hello"');
  },
};

async function measureVariants(testbed: Testbed, kinds: readonly (keyof typeof variants)[]): Promise<Figures> {
  const echo = await echoContender(testbed);
  const contenders = [echo];
  for (const kind of kinds) contenders.push(await variants[kind](testbed));
  const compared = await compare("kinds of runs", contenders, 64, testbed.rounds);
  const byKind = kinds.flatMap((kind) => [
    [`${kind}_ratio_c64`, compared.reportRatio(kind, echo.name).ratio],
    [`cpu_ms_per_run_${kind}`, compared.cpuMs(kind)],
  ]);
  return { ...Object.fromEntries(byKind), foreign_share_kinds: compared.foreignShare };
}

/** The client's correlation id joins a request with its run. */
async function measureEchoStages({ perch, headers, rounds }: Testbed): Promise<Figures> {
  const target: PostTarget = { ...invokeTarget(perch.url, headers), uniqueHeader: "x-correlation-id" };
  const ours = await createContender("echo", target, perch, '"response":"hello"');
  return measureStages({ ...ours, observe: () => perch.observer.observe("stages") }, rounds);
}

/**
 * Invoke, authenticated, durable and recorded, against the bare engine with one journaled step and against a route that only
 * waits; and other kinds of runs against the plain one.
 */
export async function invoke({ short, kinds, stages }: InvokeOptions): Promise<Figures> {
  const stops = createStops();
  try {
    const perch = await startInstallation(stops, "all");
    const { headers } = await createOrganisationsWithAgent(perch.database, perch.url, "perch/echo");
    const bareServer = await startChild("bare-server.ts", perch.observer.env);
    stops.add(bareServer.stop);
    const testbed: Testbed = { stops, perch, headers, bareServer, rounds: roundsOf({ short }) };
    const bareService = await startBareService(stops, perch);
    const chosen = kinds.filter((kind) => kind !== "echo" && kind !== "slow");
    return {
      ...(kinds.includes("echo") && (await measureEcho(testbed, bareService, short))),
      ...(kinds.includes("slow") && (await measureSlow(testbed, bareService))),
      ...(chosen.length > 0 && (await measureVariants(testbed, chosen))),
      ...(stages && (await measureEchoStages(testbed))),
    };
  } finally {
    await stops.all();
  }
}
