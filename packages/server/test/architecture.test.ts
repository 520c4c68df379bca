import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Edge, importsOf, root, sourceFiles } from "./source-files.ts";

const resources = [
  "agents",
  "audit",
  "deployments",
  "events",
  "invocations",
  "keys",
  "logs",
  "memory",
  "metrics",
  "mfa",
  "organisations",
  "providers",
  "webhooks",
  "security",
];
const below = [
  "handlers",
  "idempotency",
  "engine",
  "models",
  "tools",
  "streams",
  "telemetry",
  "gate",
  "tracing",
  "db",
  "platform",
  "contract",
];

/** Each layer of the server lists what it may import; a layer may always import itself. */
const mayImport: Record<string, readonly string[]> = {
  main: ["commands", "config", "platform"],
  commands: ["compose", "config", "config-reference", ...resources, ...below],
  compose: ["config", "version", "http", "workflows", ...resources, ...below],
  http: ["config", "version", ...resources, ...below],
  workflows: ["engine", "models", "tools", "platform", ...resources],
  idempotency: ["handlers", "gate", "db", "platform", "contract"],
  engine: ["agents", "deployments", "invocations", "memory", "platform"],
  models: ["platform", "contract"],
  tools: ["models", "platform", "contract"],
  streams: ["platform"],
  telemetry: ["platform"],
  tracing: ["platform"],
  ...Object.fromEntries(resources.map((name) => [name, [...resources, ...below]])),
  handlers: ["gate", "idempotency", "tracing", "db", "contract"],
  gate: ["db", "platform", "contract"],
  "config-reference": ["config"],
  config: ["platform", "contract"],
  db: ["platform", "contract"],
  platform: ["contract"],
  version: [],
};

/** Packages that only these folders may know. */
const confined: Record<string, readonly string[]> = {
  fastify: ["http", "compose"],
  "@fastify/cors": ["http"],
  kysely: ["db", "gate", "handlers", "http", "idempotency", ...resources],
  iovalkey: ["gate", "logs", "streams"],
  "@ai-sdk/mcp": ["tools"],
  "@ai-sdk/provider": ["models"],
  "@huggingface/tokenizers": ["models"],
  "onnxruntime-node": ["models"],
  undici: ["engine", "platform"],
  "@opentelemetry/api": ["tracing"],
  "@opentelemetry/exporter-trace-otlp-http": ["tracing"],
  "@opentelemetry/resources": ["tracing"],
  "@opentelemetry/sdk-trace": ["tracing"],
  "@restatedev/restate-sdk": ["engine", "workflows"],
  pg: ["db"],
  "prom-client": ["telemetry"],
  jose: ["security"],
  otpauth: ["mfa"],
  oauth4webapi: ["security"],
};

const server = "packages/server/src/";
const layerOf = (path: string): string => {
  if (path.startsWith("@perch/contract") || path.startsWith("packages/contract/")) return "contract";
  return path.startsWith(server) ? (path.slice(server.length).split("/")[0] ?? "").replace(/\.ts$/, "") : path;
};

const isTest = ({ path }: { path: string }) => path.endsWith(".test.ts");
const production = sourceFiles(["packages/server/src", "packages/contract/src"]).filter((file) => !isTest(file));
const edges = production.flatMap(importsOf);
const ours = (edge: Edge) => edge.to.endsWith(".ts") || edge.to.startsWith("@perch/");

function cyclesIn(all: readonly Edge[]): string[] {
  const targets = Map.groupBy(all, ({ from }) => from);
  const done = new Set<string>();
  const visit = (file: string, trail: readonly string[]): string[] => {
    if (trail.includes(file)) return [[...trail.slice(trail.indexOf(file)), file].join(" -> ")];
    if (done.has(file)) return [];
    const found = (targets.get(file) ?? []).flatMap(({ to }) => visit(to, [...trail, file]));
    done.add(file);
    return found;
  };
  return [...targets.keys()].flatMap((file) => visit(file, []));
}

describe("imports", () => {
  test("the check sees the code it claims to check", () => {
    const seen = edges.filter(ours);
    console.log(
      `architecture: ${production.length} files, ${edges.length} import edges, ${seen.length} of them between our own files`,
    );
    expect(production.length).toBeGreaterThan(40);
    expect(seen.length).toBeGreaterThan(100);
    expect(seen.filter(({ to }) => to.endsWith(".ts") && !existsSync(join(root, to)))).toEqual([]);
  });

  test("only point down the layers", () => {
    const upward = edges
      .filter(ours)
      .filter(({ from }) => from.startsWith(server))
      .filter(({ from, to }) => layerOf(from) !== layerOf(to) && !mayImport[layerOf(from)]?.includes(layerOf(to)));
    expect(upward).toEqual([]);
  });

  test("the contract imports nothing but zod and itself", () => {
    const outward = edges.filter(
      ({ from, to }) => layerOf(from) === "contract" && layerOf(to) !== "contract" && to !== "zod",
    );
    expect(outward).toEqual([]);
  });

  test("a resource never uses another's handlers", () => {
    const wrong = edges.filter(
      ({ from, to }) =>
        resources.includes(layerOf(from)) && layerOf(from) !== layerOf(to) && to.endsWith("-handlers.ts"),
    );
    expect(wrong).toEqual([]);
  });

  test.each(Object.entries(confined))("%s is known only where it belongs", (name, layers) => {
    const uses = edges.filter(({ to }) => to === name || to.startsWith(`${name}/`));
    expect(uses.length).toBeGreaterThan(0);
    expect(uses.filter(({ from }) => !layers.includes(layerOf(from)))).toEqual([]);
  });

  test("do not go round in circles", () => {
    expect(cyclesIn(edges.filter(({ to }) => to.endsWith(".ts")))).toEqual([]);
    expect(
      cyclesIn([
        { from: "a", to: "b" },
        { from: "b", to: "a" },
      ]),
    ).not.toEqual([]);
  });
});

describe("files", () => {
  const all = sourceFiles(["packages", "scripts", "spec", "bench", "chaos", "examples"]);
  const lengths = all.map(({ lines }) => lines).sort((a, b) => a - b);
  const quantile = (q: number) => lengths[Math.floor(lengths.length * q)] ?? 0;

  test("stay small: half under 90 lines, 95 in 100 under 300, none over 400", () => {
    console.log(
      `files: ${all.length}, median ${quantile(0.5)} lines, 95th percentile ${quantile(0.95)}, longest ${lengths.at(-1)}`,
    );
    expect(all.length).toBeGreaterThan(60);
    expect(quantile(0.5)).toBeLessThan(90);
    expect(quantile(0.95)).toBeLessThan(300);
    expect(all.filter(({ lines }) => lines > 400).map(({ path }) => path)).toEqual([]);
  });

  test("name a concept: no utils, helpers, common, manager, base", () => {
    expect(
      all
        .map(({ path }) => path)
        .filter((path) => /(^|[/-])(utils?|helpers?|common|manager|base|v2)([.-]|$)/.test(path)),
    ).toEqual([]);
  });
});
