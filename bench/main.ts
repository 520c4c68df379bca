import { parseArgs } from "node:util";
import { approvalKinds, approvals } from "./approvals/approvals.ts";
import type { Figures } from "./comparison.ts";
import { connections } from "./connections/connections.ts";
import { consolePages } from "./console/console.ts";
import { engineSettings, engineSettingsNames, partitionCounts } from "./engine-settings.ts";
import { housekeeping } from "./housekeeping.ts";
import { invoke, invokeKinds } from "./invoke.ts";
import { listAgents } from "./list-agents.ts";
import { memory } from "./memory.ts";
import { overhead } from "./overhead.ts";
import { runList } from "./run-list.ts";
import { signing } from "./signing.ts";
import { streams } from "./streams.ts";
import { telemetry } from "./telemetry.ts";
import { versions } from "./versions.ts";
import { webhooks } from "./webhooks.ts";

interface Benchmark {
  readonly about: string;
  readonly run: (short: boolean, isChosen: (kind: string) => boolean) => Promise<Figures>;
  readonly hasShort?: true;
  readonly kinds?: {
    readonly all: readonly string[];
    readonly full: readonly string[];
    readonly short: readonly string[];
  };
}

/** Each benchmark returns ratios measured side by side in one run: machines are noisy, ratios less so. */
const benchmarks: Record<string, Benchmark> = {
  "list-agents": { about: "lists and look-ups with 1,000 and with 1,000,000 agents", run: listAgents },
  overhead: {
    about: "Get Agent, also with every security setting, against a bare Fastify route",
    run: (short) => overhead({ short }),
    hasShort: true,
  },
  invoke: {
    about: "invoke against the bare engine, and kinds of runs against the plain one",
    run: (short, isChosen) => invoke({ short, kinds: invokeKinds.filter(isChosen) }),
    hasShort: true,
    kinds: { all: invokeKinds, full: invokeKinds, short: ["echo", "slow"] },
  },
  "engine-settings": {
    about: "the bare engine with other settings",
    run: (short, isChosen) => engineSettings({ short, names: engineSettingsNames.filter(isChosen) }),
    hasShort: true,
    kinds: { all: engineSettingsNames, full: partitionCounts, short: partitionCounts },
  },
  signing: { about: "what signing a call costs", run: signing },
  streams: { about: "a thousand open streams on one API node", run: streams },
  versions: { about: "an agent with 10 and with 10,000 versions", run: versions },
  telemetry: { about: "logs, metrics and records with 100,000 and with 20,000,000 log entries", run: telemetry },
  "run-list": { about: "lists of runs with 10,000 and with 1,000,000 runs, with each filter", run: runList },
  approvals: {
    about: "10,000 runs that wait for a person, and lists with 100 and with 1,000,000 open approvals",
    run: (short, isChosen) => approvals({ short, kinds: approvalKinds.filter(isChosen) }),
    hasShort: true,
    kinds: { all: approvalKinds, full: approvalKinds, short: approvalKinds },
  },
  connections: {
    about: "1,000,000 connected accounts that nobody uses, and lists and look-ups with 100 and with that many",
    run: (short) => connections({ short }),
    hasShort: true,
  },
  console: {
    about: "the console on a list of a million runs: first rows, frames while scrolling, slow networks",
    run: (short) => consolePages({ short }),
    hasShort: true,
  },
  memory: { about: "search in 1,000 and in 200,000 memories", run: memory },
  housekeeping: { about: "150 simulated days of housekeeping, and invokes beside it", run: housekeeping },
  webhooks: { about: "nine receivers beside one that does not answer", run: webhooks },
};

function describe([name, { about, hasShort, kinds }]: [string, Benchmark]): string {
  const lines = [`  ${name.padEnd(16)} ${about}${hasShort ? " [--short]" : ""}`];
  if (kinds) lines.push(`${" ".repeat(19)}[--kinds ${kinds.all.join(",")}]`);
  return lines.join("\n");
}

function failWithUsage(problem: string): never {
  const list = Object.entries(benchmarks).map(describe).join("\n");
  console.error(`${problem}\n\nUsage: pnpm bench <name> [--json]\n\n${list}`);
  process.exit(2);
}

const { values, positionals } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    short: { type: "boolean", default: false },
    kinds: { type: "string" },
  },
  allowPositionals: true,
});
const [name = ""] = positionals;
const benchmark = benchmarks[name] ?? failWithUsage(name ? `There is no benchmark ${name}.` : "Which benchmark?");
const { kinds } = benchmark;
if (values.short && !benchmark.hasShort) failWithUsage(`${name} has no short form.`);
if (values.kinds !== undefined && !kinds) failWithUsage(`${name} has no kinds.`);
const chosen = values.kinds?.split(",") ?? (values.short ? kinds?.short : kinds?.full) ?? [];
const unknown = chosen.filter((kind) => !kinds?.all.includes(kind));
if (unknown.length > 0) failWithUsage(`${name} has no kind ${unknown.join(", ")}.`);

const result = await benchmark.run(values.short, (kind) => chosen.includes(kind));
if (values.json) console.log(JSON.stringify(result));
else console.table(result);
