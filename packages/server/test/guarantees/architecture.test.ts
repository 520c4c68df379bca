import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join, matchesGlob } from "node:path";
import { type Edge, importsOf, root, sourceFiles } from "@perch/testkit/source-files.ts";
import { describe, expect, test } from "vitest";

/** A room is a top folder of the server, from the door down. It may import itself and the rooms listed with it. */
const rooms: Record<string, readonly string[]> = {
  main: ["operator", "config", "platform"],
  operator: [
    ...["compose", "config", "api", "resources", "auth", "engine", "outbound", "telemetry", "limits", "cache", "db"],
    ...["fairness", "platform", "contract"],
  ],
  compose: [
    ...["config", "api", "workflows", "runs", "resources", "auth", "engine", "outbound", "streams", "telemetry"],
    ...["limits", "cache", "db", "fairness", "platform", "contract"],
  ],
  config: ["platform", "contract"],
  api: ["resources", "auth", "limits", "cache", "telemetry", "db", "fairness", "platform", "contract"],
  workflows: ["runs", "resources", "engine", "platform"],
  runs: [
    ...["resources", "auth", "engine", "outbound", "streams", "telemetry", "limits", "cache", "db"],
    ...["fairness", "platform", "contract"],
  ],
  resources: [
    ...["auth", "engine", "outbound", "streams", "telemetry", "limits", "cache", "db", "fairness", "platform"],
    "contract",
  ],
  auth: ["outbound", "limits", "cache", "db", "fairness", "platform", "contract"],
  engine: ["platform", "contract"],
  outbound: ["fairness", "platform", "contract"],
  streams: ["platform", "contract"],
  telemetry: ["fairness", "platform", "contract"],
  limits: ["fairness", "platform", "contract"],
  cache: ["db", "platform"],
  db: ["fairness", "platform"],
  fairness: ["platform", "contract"],
  platform: ["contract"],
};

/** Rooms of which another may know the types, and nothing that runs. */
const typesOf: Record<string, readonly string[]> = { workflows: ["outbound"], limits: ["cache"] };

/** Inside `runs/`: accepting and executing do not know each other, and the record knows neither. */
const partsOfRuns: Record<string, readonly string[]> = {
  accept: ["record", "run.ts"],
  execute: ["record", "run.ts"],
  record: ["run.ts"],
  "run.ts": [],
  "run-resource.ts": ["accept", "record"],
};

/** A resource may use those before it, but never their handlers. All of them may use `resources/handlers.ts`. */
const resourceOrder = [
  ...["audit", "engine-tasks", "quotas", "agents", "keys", "organisations", "secrets", "providers", "events"],
  ...[
    "deployments",
    "memory",
    "waiting-runs",
    "connections",
    "webhooks",
    "approvals",
    "logs",
    "metrics",
    "mfa",
    "erasures",
    "console-sessions",
    "installation",
  ],
];

/** The folders that all resources may use. */
const sharedByResources = [
  ...["handlers.ts", "resource.ts", "erasure-stage.ts", "envelopes.ts", "etag.ts", "idempotent-request.ts"],
  "transitions.ts",
];

/** Resources have metrics of their own. */
const metricFiles = resourceOrder.map((name) => `resources/${name}/*-metrics.ts`);

/** Packages, and the only folders or files that may know them. */
const confined: Record<string, readonly string[]> = {
  fastify: ["api", "compose/api.ts"],
  "@fastify": ["api/app.ts", "api/cors.ts"],
  "@scalar/fastify-api-reference": ["api/documentation.ts"],
  kysely: ["api", "auth", "cache", "db", "resources", "runs"],
  pg: ["db"],
  ajv: ["resources/approvals/check-schema-thread.ts"],
  iovalkey: ["limits", "resources/logs", "streams"],
  "@restatedev/restate-sdk": ["engine", "workflows"],
  undici: ["engine", "outbound"],
  "@ai-sdk/mcp": ["outbound/tools"],
  "@ai-sdk/provider": ["outbound/models"],
  "@huggingface/tokenizers": ["outbound/models"],
  "onnxruntime-node": ["outbound/models"],
  "@opentelemetry": ["telemetry"],
  "prom-client": ["telemetry", ...metricFiles],
  jose: ["auth"],
  oauth4webapi: ["auth", "outbound/oauth"],
  otpauth: ["auth"],
};

const server = "packages/server/src/";
const inServer = (path: string) => path.startsWith(server);
/** The part of a path at this depth below `src/`: 0 is the room. */
const part = (path: string, depth: number): string => path.slice(server.length).split("/")[depth] ?? "";

function roomOf(path: string): string {
  if (path.startsWith("@perch/contract") || path.startsWith("packages/contract/")) return "contract";
  return inServer(path) ? part(path, 0).replace(/\.ts$/, "") : path;
}

const production = sourceFiles(["packages/server/src", "packages/contract/src"]).filter(
  ({ path }) => !path.endsWith(".test.ts"),
);
const edges = production.flatMap(importsOf);
const isOurs = ({ to }: Edge) => to.endsWith(".ts") || to.startsWith("@perch/");
const own = edges.filter(isOurs);

const show = ({ from, to }: Edge): string => `${from} -> ${to}`;

const isForbidden = ({ from, to, typesOnly }: Edge): boolean => {
  const [source, target] = [roomOf(from), roomOf(to)];
  if (!inServer(from) || source === target || rooms[source]?.includes(target)) return false;
  return !(typesOnly && typesOf[source]?.includes(target));
};

const isForbiddenInRuns = ({ from, to }: Edge): boolean => {
  if (roomOf(from) !== "runs" || roomOf(to) !== "runs") return false;
  const [source, target] = [part(from, 1), part(to, 1)];
  return source !== target && !partsOfRuns[source]?.includes(target);
};

const isForbiddenInResources = ({ from, to, typesOnly }: Edge): boolean => {
  if (roomOf(from) !== "resources" || roomOf(to) !== "resources") return false;
  const [source, target] = [part(from, 1), part(to, 1)];
  if (source === target || sharedByResources.includes(target)) return false;
  if (sharedByResources.includes(source)) return !typesOnly;
  const isEarlier = resourceOrder.includes(target) && resourceOrder.indexOf(target) < resourceOrder.indexOf(source);
  return !isEarlier || to.endsWith("-handlers.ts");
};

type Arrow = Pick<Edge, "from" | "to">;

function cyclesIn(all: readonly Arrow[]): string[] {
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

/** Everything that the file imports, directly or through others. */
function reachableFrom(file: string): Set<string> {
  const targets = Map.groupBy(own, ({ from }) => from);
  const reached = new Set([file]);
  for (const path of reached) for (const { to } of targets.get(path) ?? []) reached.add(to);
  return reached;
}

/** The longest chain of rooms in which each imports the next, as the code is. */
function longestChain(): string[] {
  const between = own
    .filter(({ from, to }) => inServer(from) && inServer(to))
    .map(({ from, to }) => ({ from: roomOf(from), to: roomOf(to) }))
    .filter(({ from, to }) => from !== to);
  const targets = new Map(
    [...Map.groupBy(between, ({ from }) => from)].map(([from, all]) => [from, new Set(all.map(({ to }) => to))]),
  );
  const chains = new Map<string, string[]>();
  const chainFrom = (room: string): string[] => {
    const known = chains.get(room);
    if (known) return known;
    const rests = [...(targets.get(room) ?? [])].map(chainFrom);
    const chain = [room, ...(rests.sort((a, b) => b.length - a.length)[0] ?? [])];
    chains.set(room, chain);
    return chain;
  };
  return chainFrom("main");
}

describe("imports", () => {
  test("the check sees the code it claims to check", () => {
    expect(production.length).toBeGreaterThan(150);
    expect(own.length).toBeGreaterThan(500);
    expect(own.filter(({ typesOnly }) => typesOnly).length).toBeGreaterThan(100);
    expect(own.filter(({ to }) => to.endsWith(".ts") && !existsSync(join(root, to))).map(show)).toEqual([]);
    const paths = production.map(({ path }) => path).filter(inServer);
    expect(new Set(paths.map(roomOf))).toEqual(new Set(Object.keys(rooms)));
    const inRoom = (room: string) => paths.filter((path) => roomOf(path) === room).map((path) => part(path, 1));
    expect(new Set(inRoom("runs"))).toEqual(new Set(Object.keys(partsOfRuns)));
    expect(new Set(inRoom("resources"))).toEqual(new Set([...resourceOrder, ...sharedByResources]));
  });

  test("the check fails on an arrow that points up", () => {
    const edge = (from: string, to: string, typesOnly = true): Edge => ({
      from: server + from,
      to: server + to,
      typesOnly,
    });
    expect(isForbidden(edge("db/a.ts", "cache/b.ts"))).toBe(true);
    expect(isForbidden(edge("api/a.ts", "workflows/b.ts"))).toBe(true);
    expect(isForbidden(edge("limits/a.ts", "cache/b.ts", false))).toBe(true);
    expect(isForbidden(edge("limits/a.ts", "cache/b.ts"))).toBe(false);
    expect(isForbiddenInRuns(edge("runs/record/a.ts", "runs/execute/b.ts"))).toBe(true);
    expect(isForbiddenInResources(edge("resources/agents/a.ts", "resources/keys/b.ts"))).toBe(true);
    expect(isForbiddenInResources(edge("resources/keys/a.ts", "resources/agents/b-handlers.ts"))).toBe(true);
    expect(cyclesIn([edge("a.ts", "b.ts"), edge("b.ts", "a.ts")])).not.toEqual([]);
  });

  test("only point down, from room to room", () => {
    const stated = Object.entries(rooms).flatMap(([from, targets]) => targets.map((to) => ({ from, to })));
    const statedTypes = Object.entries(typesOf).flatMap(([from, targets]) => targets.map((to) => ({ from, to })));
    expect(cyclesIn([...stated, ...statedTypes])).toEqual([]);
    expect(own.filter(isForbidden).map(show)).toEqual([]);
    const chain = longestChain();
    const names = `${Object.keys(rooms).length} rooms, ${chain.length} floors (${chain.join(" > ")})`;
    console.log(`architecture: ${production.length} files, ${own.length} edges between them, ${names}`);
    expect(chain.length).toBeGreaterThan(5);
  });

  test("the table in ARCHITECTURE.md lists every room, each above all that it imports", () => {
    const [, map = ""] = readFileSync(join(root, "ARCHITECTURE.md"), "utf8").split("## The map");
    const listed = [...map.matchAll(/^\| `(\w+)(?:\/|\.ts)` \|/gm)].map(([, room = ""]) => room);
    expect(listed.toSorted()).toEqual(Object.keys(rooms).toSorted());
    const upward = listed.flatMap((room, floor) =>
      [...(rooms[room] ?? []), ...(typesOf[room] ?? [])]
        .filter((target) => target !== "contract" && listed.indexOf(target) <= floor)
        .map((target) => `${room} -> ${target}`),
    );
    expect(upward).toEqual([]);
  });

  test("of a worker reach nothing of the API", () => {
    const reached = [...reachableFrom(`${server}compose/worker.ts`)];
    expect(reached.length).toBeGreaterThan(80);
    expect(reached).toContain(`${server}workflows/run-agent.ts`);
    // The declaration of stored answers, which erasures need; it imports nothing of the room.
    const declared = `${server}api/answer-resource.ts`;
    expect(reached.filter((path) => roomOf(path) === "api")).toEqual([declared]);
    expect(reachableFrom(`${server}compose/api.ts`)).toContain(`${server}api/app.ts`);
  });

  test("within runs separate accepting, executing and recording", () => {
    expect(own.filter(isForbiddenInRuns).map(show)).toEqual([]);
  });

  test("between resources follow their order, and never use another's handlers", () => {
    expect(own.filter(isForbiddenInResources).map(show)).toEqual([]);
  });

  test("of the contract are only zod and itself", () => {
    const outward = edges.filter(
      ({ from, to }) => roomOf(from) === "contract" && roomOf(to) !== "contract" && to !== "zod",
    );
    expect(outward.map(show)).toEqual([]);
  });

  test.each(Object.entries(confined))("of %s stay where it belongs", (name, places) => {
    const uses = edges.filter(({ to }) => to === name || to.startsWith(`${name}/`));
    const isPlace = ({ from }: Edge) =>
      places.some((place) => matchesGlob(from, server + place) || from.startsWith(`${server}${place}/`));
    expect(uses.length).toBeGreaterThan(0);
    expect(uses.filter((use) => !isPlace(use)).map(show)).toEqual([]);
  });

  test("do not go round in circles", () => {
    expect(cyclesIn(edges.filter(({ to }) => to.endsWith(".ts")))).toEqual([]);
  });
});

/**
 * A top folder of the repository may import itself and those listed with it. Only `scripts` imports a folder beside
 * `packages`.
 */
const topFolders: Record<string, readonly string[]> = {
  packages: [],
  bench: ["packages"],
  chaos: ["packages"],
  deploy: ["packages"],
  examples: ["packages"],
  "sdk-python": ["packages"],
  site: ["packages"],
  spec: ["packages"],
  scripts: ["packages", "deploy", "sdk-python"],
};

describe("imports between the top folders of the repository", () => {
  const topOf = (path: string): string => path.split("/")[0] ?? "";
  const crossing = sourceFiles(Object.keys(topFolders), "**/*.{ts,tsx}")
    .flatMap(importsOf)
    .map((edge) => ({ ...edge, to: edge.to.replace(/^@perch\//, "packages/") }))
    .filter(({ from, to }) => topOf(to) in topFolders && topOf(from) !== topOf(to));

  test("the check sees the folders that it claims to check", () => {
    expect(crossing.length).toBeGreaterThan(400);
    const folders = readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !/^(\.|node_modules$)/.test(entry.name))
      .map(({ name }) => name)
      .filter((name) => sourceFiles([name]).length > 0);
    expect(folders.toSorted()).toEqual(Object.keys(topFolders).toSorted());
    const allowed = Object.entries(topFolders).flatMap(([folder, targets]) =>
      targets.map((to) => `${folder} -> ${to}`),
    );
    expect(new Set(crossing.map(({ from, to }) => `${topOf(from)} -> ${topOf(to)}`))).toEqual(new Set(allowed));
  });

  test("of the packages and their tests lead to no other folder: shared code is in packages/testkit", () => {
    expect(crossing.filter(({ from }) => topOf(from) === "packages").map(show)).toEqual([]);
  });

  test("never lead to scripts", () => {
    expect(crossing.filter(({ to }) => topOf(to) === "scripts").map(show)).toEqual([]);
  });

  test("follow the table, which has no circle", () => {
    expect(crossing.filter(({ from, to }) => !topFolders[topOf(from)]?.includes(topOf(to))).map(show)).toEqual([]);
    const arrows = Object.entries(topFolders).flatMap(([from, targets]) => targets.map((to) => ({ from, to })));
    expect(cyclesIn(arrows)).toEqual([]);
    expect(cyclesIn([...arrows, { from: "deploy", to: "scripts" }])).toEqual(["deploy -> scripts -> deploy"]);
  });
});

describe("files", () => {
  const all = sourceFiles(Object.keys(topFolders));
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

/** The width of a resource and of the composition. The bounds are the current values: a commit that raises one says why. */
describe("the width of a feature", () => {
  const text = (path: string): string => readFileSync(join(root, server, path), "utf8");
  const countImports = (path: string): number => importsOf({ path: server + path, text: text(path), lines: 0 }).length;

  test.each([
    [
      "server files outside resources/approvals that name approvals",
      56,
      () =>
        production.filter(
          ({ path, text: source }) =>
            inServer(path) && !path.includes("/resources/approvals/") && /approval/i.test(source),
        ).length,
    ],
    [
      "fields of Core",
      16,
      () =>
        text("compose/core.ts")
          .match(/export interface Core \{[^}]*\}/)?.[0]
          .match(/^ {2}readonly /gm)?.length ?? 0,
    ],
    ["imports of compose/api.ts", 32, () => countImports("compose/api.ts")],
    [
      "names of files that occur twice",
      0,
      () => {
        const names = production
          .map(({ path }) => path)
          .filter(inServer)
          .map((path) => basename(path));
        return new Set(names.filter((name, i) => names.indexOf(name) !== i)).size;
      },
    ],
  ])("%s: at most %i", (_, bound, count) => {
    if (bound > 0) expect(count()).toBeGreaterThan(0);
    expect(count()).toBeLessThanOrEqual(bound);
  });
});
