import { parseArgs } from "node:util";
import type { Figures } from "./comparison.ts";
import { consolePages } from "./console/console.ts";
import { invoke, invokeKinds } from "./invoke.ts";
import { listAgents } from "./list-agents.ts";
import { memory } from "./memory.ts";
import { overhead } from "./overhead.ts";
import { runList } from "./run-list.ts";
import { streams } from "./streams.ts";
import { webhooks } from "./webhooks.ts";

interface Benchmark {
  readonly about: string;
  readonly run: (short: boolean, isChosen: (kind: string) => boolean, stages: boolean) => Promise<Figures>;
  readonly hasShort?: true;
  readonly hasStages?: true;
  readonly kinds?: {
    readonly all: readonly string[];
    readonly full: readonly string[];
    readonly short: readonly string[];
  };
}

/**
 * Each benchmark returns ratios measured side by side in one run, because ratios vary less than times on a noisy
 * machine.
 */
const benchmarks: Record<string, Benchmark> = {
  "list-agents": { about: "lists and look-ups with 1,000 and with 1,000,000 agents", run: listAgents },
  overhead: {
    about: "Get Agent, also with every security setting, against a bare Fastify route",
    run: (short) => overhead({ short }),
    hasShort: true,
  },
  invoke: {
    about: "invoke against the bare engine, and kinds of runs against the plain one",
    run: (short, isChosen, stages) => invoke({ short, kinds: invokeKinds.filter(isChosen), stages }),
    hasShort: true,
    hasStages: true,
    kinds: { all: invokeKinds, full: invokeKinds, short: ["echo", "slow"] },
  },
  streams: { about: "a thousand open streams on one API node", run: streams },
  "run-list": { about: "lists of runs with 10,000 and with 1,000,000 runs, with each filter", run: runList },
  console: {
    about: "the console on a list of a million runs: first rows, frames while scrolling, slow networks",
    run: (short) => consolePages({ short }),
    hasShort: true,
  },
  memory: { about: "search in 1,000 and in 200,000 memories", run: memory },
  webhooks: { about: "nine receivers beside one that does not answer", run: webhooks },
};

function describe([name, { about, hasShort, hasStages, kinds }]: [string, Benchmark]): string {
  const lines = [`  ${name.padEnd(16)} ${about}${hasShort ? " [--short]" : ""}${hasStages ? " [--stages]" : ""}`];
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
    stages: { type: "boolean", default: false },
    kinds: { type: "string" },
  },
  allowPositionals: true,
});
const [name = ""] = positionals;
const benchmark = benchmarks[name] ?? failWithUsage(name ? `There is no benchmark ${name}.` : "Which benchmark?");
const { kinds } = benchmark;
if (values.short && !benchmark.hasShort) failWithUsage(`${name} has no short form.`);
if (values.stages && !benchmark.hasStages) failWithUsage(`${name} has no stages.`);
if (values.kinds !== undefined && !kinds) failWithUsage(`${name} has no kinds.`);
const usual = values.stages ? [] : values.short ? kinds?.short : kinds?.full;
const chosen = values.kinds?.split(",") ?? usual ?? [];
const unknown = chosen.filter((kind) => !kinds?.all.includes(kind));
if (unknown.length > 0) failWithUsage(`${name} has no kind ${unknown.join(", ")}.`);

const result = await benchmark.run(values.short, (kind) => chosen.includes(kind), values.stages);
if (values.json) console.log(JSON.stringify(result));
else console.table(result);
