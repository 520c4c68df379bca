import { randomBytes } from "node:crypto";
import type { OperationKey, Operations, RequestOf, Role, Tier } from "@perch/contract";
import { afterAll, beforeAll } from "vitest";
import { startRestate } from "../../../scripts/testbed/restate-process.ts";
import { type Api, composeApi } from "../src/compose/api.ts";
import { type Core, closeCoreStep, composeCore } from "../src/compose/core.ts";
import { composeWorker, type Worker } from "../src/compose/worker.ts";
import { type Config, readConfig } from "../src/config.ts";
import { createOrganisation } from "../src/organisations/create-organisation.ts";
import { createLogger, type Logger } from "../src/platform/logger.ts";
import { shutDown } from "../src/platform/shutdown.ts";
import { type Answer, send } from "./contract-client.ts";
import { createTestDatabase, type TestDatabase } from "./test-database.ts";

const silent = createLogger("silent");

export interface Organisation {
  readonly id: string;
  readonly adminKey: string;
  /** Calls as the organisation's admin, or as another key. */
  readonly call: <K extends OperationKey>(key: K, request: RequestOf<Operations[K]>, as?: string) => Promise<Answer<K>>;
  readonly newKey: (key: {
    role?: Role;
    permissions?: string[];
    agent_id?: string;
    expires_at?: string;
  }) => Promise<string>;
}

export interface Node {
  readonly url: string;
  readonly server: Api & { readonly core: Core };
}

export interface Perch extends Node {
  readonly database: TestDatabase;
  readonly newOrganisation: (tier?: Tier) => Promise<Organisation>;
  /** A worker on the same database, known to the engine (see `runs`). */
  readonly addWorker: () => Promise<Worker>;
  /** One more API node on the same database, Valkey and master key. */
  readonly addNode: () => Promise<Node>;
}

export const testConfig = (database: TestDatabase, change: Partial<Config> = {}): Config => ({
  ...readConfig({
    PERCH_DATABASE_URL: database.appUrl,
    PERCH_MASTER_KEY: randomBytes(32).toString("base64"),
    PERCH_PORT: "0",
    PERCH_STRANGER_REQUESTS_PER_MINUTE: "100000",
  }),
  ...change,
});

/** An API node without its listener: all that `serve` has, and the way it comes down. */
export async function startApi(
  config: Config,
  logger: Logger,
  nowMs?: () => number,
): Promise<Api & { readonly core: Core }> {
  const core = composeCore(config, logger, nowMs);
  const { app, shutdownSteps } = await composeApi(core);
  return { app, core, shutdownSteps: [...shutdownSteps, closeCoreStep(core)] };
}

function organisationAt(url: string, id: string, adminKey: string): Organisation {
  const call: Organisation["call"] = (key, request, as = adminKey) => send(url, as, key, request);
  return {
    id,
    adminKey,
    call,
    newKey: async (key) => {
      const made = await call("POST /v1/keys", { body: { name: "test", ...key } as never });
      if (made.status !== 201) throw new Error(`no key: ${JSON.stringify(made.body)}`);
      return made.body.data.key;
    },
  };
}

interface StartOptions {
  /** Start an engine and a worker too, so that agents can run. */
  readonly runs?: boolean;
  readonly logger?: Logger;
}

export async function startPerch(
  change: Partial<Config> = {},
  { runs = false, logger = silent }: StartOptions = {},
): Promise<Perch & { readonly stop: () => Promise<void> }> {
  const database = await createTestDatabase();
  const engine = runs ? await startRestate() : undefined;
  const config = testConfig(database, {
    ...(engine && { ingressUrls: engine.ingressUrls, adminUrls: engine.adminUrls }),
    workerPort: 0,
    ...change,
  });
  const workers: { readonly core: Core; readonly worker: Worker }[] = [];
  const addWorker = async (): Promise<Worker> => {
    const core = composeCore(config, logger);
    const worker = await composeWorker(core);
    workers.push({ core, worker });
    return worker;
  };
  const nodes: Node[] = [];
  const addNode = async (): Promise<Node> => {
    const server = await startApi(config, logger);
    const node = { server, url: await server.app.listen({ host: "127.0.0.1", port: 0 }) };
    nodes.push(node);
    return node;
  };
  const first = await addNode();
  if (runs) await addWorker();
  return {
    ...first,
    database,
    addNode,
    addWorker,
    newOrganisation: async (tier = "enterprise") => {
      const { id, key } = await createOrganisation(first.server.core, { name: "Test", tier });
      return organisationAt(first.url, id, key);
    },
    stop: async () => {
      for (const { server } of nodes) await shutDown(server.shutdownSteps, silent);
      for (const { core, worker } of workers) await shutDown([...worker.shutdownSteps, closeCoreStep(core)], silent);
      await engine?.stop();
      await database.drop();
    },
  };
}

/** A real server on a database of its own, for one test file. */
export function usePerch(change: Partial<Config> = {}, options: StartOptions = {}): () => Perch {
  let perch: Awaited<ReturnType<typeof startPerch>> | undefined;
  beforeAll(async () => {
    perch = await startPerch(change, options);
  });
  afterAll(() => perch?.stop());
  return () => {
    if (!perch) throw new Error("Perch has not started yet");
    return perch;
  };
}
