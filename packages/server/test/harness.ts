import { randomBytes } from "node:crypto";
import type { OperationKey, Operations, RequestOf, Role, Tier } from "@perch/contract";
import { afterAll, beforeAll } from "vitest";
import { composeServer, type Server } from "../src/compose.ts";
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
  readonly server: Server;
}

export interface Perch extends Node {
  readonly database: TestDatabase;
  readonly newOrganisation: (tier?: Tier) => Promise<Organisation>;
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

export async function startPerch(
  change: Partial<Config> = {},
  logger: Logger = silent,
): Promise<Perch & { readonly stop: () => Promise<void> }> {
  const database = await createTestDatabase();
  const config = testConfig(database, change);
  const nodes: Node[] = [];
  const addNode = async (): Promise<Node> => {
    const server = await composeServer(config, logger);
    const node = { server, url: await server.app.listen({ host: "127.0.0.1", port: 0 }) };
    nodes.push(node);
    return node;
  };
  const first = await addNode();
  return {
    ...first,
    database,
    addNode,
    newOrganisation: async (tier = "enterprise") => {
      const { id, key } = await createOrganisation(first.server.core, { name: "Test", tier });
      return organisationAt(first.url, id, key);
    },
    stop: async () => {
      for (const { server } of nodes) await shutDown(server.shutdownSteps, silent);
      await database.drop();
    },
  };
}

/** A real server on a database of its own, for one test file. */
export function usePerch(change: Partial<Config> = {}): () => Perch {
  let perch: Awaited<ReturnType<typeof startPerch>> | undefined;
  beforeAll(async () => {
    perch = await startPerch(change);
  });
  afterAll(() => perch?.stop());
  return () => {
    if (!perch) throw new Error("Perch has not started yet");
    return perch;
  };
}
