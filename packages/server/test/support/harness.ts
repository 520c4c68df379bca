import { randomBytes } from "node:crypto";
import type { OperationKey, Operations, Permission, RequestOf, Role, Tier } from "@perch/contract";
import { startRestate } from "@perch/testkit/installation/restate-process.ts";
import { afterAll, beforeAll } from "vitest";
import { type Api, composeApi } from "../../src/compose/api.ts";
import { type Core, closeCoreStep, composeCore, depsOf } from "../../src/compose/core.ts";
import { composeWorker, type Worker } from "../../src/compose/worker.ts";
import { type Config, readConfig } from "../../src/config/config.ts";
import { parsePublicId } from "../../src/platform/ids.ts";
import { createLogger, type Logger } from "../../src/platform/logger.ts";
import { shutDown } from "../../src/platform/shutdown.ts";
import { issueKey } from "../../src/resources/keys/issue-key.ts";
import { createOrganisation } from "../../src/resources/organisations/create-organisation.ts";
import { type Answer, send } from "./contract-client.ts";
import { createTestDatabase, type TestDatabase } from "./test-database.ts";

const silent = createLogger("silent");
/** A busy machine stands still for longer than a request waits for Valkey, and the tests are about the shared state. */
const patientValkeyMs = "5000";

export interface Organisation {
  readonly id: string;
  readonly adminKey: string;
  /** Calls as the organisation's admin, or as another key. */
  readonly call: <K extends OperationKey>(key: K, request: RequestOf<Operations[K]>, as?: string) => Promise<Answer<K>>;
  readonly createKey: (key: {
    role?: Role;
    permissions?: string[];
    agent_id?: string;
    expires_at?: string;
  }) => Promise<string>;
}

export interface ApiNode {
  readonly url: string;
  readonly server: Api & { readonly core: Core };
}

export interface Perch extends ApiNode {
  readonly database: TestDatabase;
  readonly createOrganisation: (tier?: Tier) => Promise<Organisation>;
  /** Starts a worker on the same database and registers it with the engine (see `withWorker`). */
  readonly addWorker: () => Promise<Worker>;
  /** Starts another API node on the same database, Valkey and master key. */
  readonly addApiNode: () => Promise<ApiNode>;
}

export const testConfig = (database: TestDatabase, overrides: Partial<Config> = {}): Config => ({
  ...readConfig({
    PERCH_DATABASE_URL: database.appUrl,
    PERCH_MASTER_KEY: randomBytes(32).toString("base64"),
    PERCH_PORT: "0",
    PERCH_UNAUTHENTICATED_REQUESTS_PER_MINUTE: "100000",
    PERCH_VALKEY_TIMEOUT_MS: patientValkeyMs,
  }),
  ...overrides,
});

/** An API node that does not listen yet, with its shutdown steps. */
export async function startApi(
  config: Config,
  logger: Logger,
  nowMs?: () => number,
  heartbeatMs?: number,
): Promise<Api & { readonly core: Core }> {
  const core = composeCore(config, logger, nowMs);
  const { app, shutdownSteps } = await composeApi(core, { heartbeatMs });
  return { app, core, shutdownSteps: [...shutdownSteps, closeCoreStep(core)] };
}

/** A key that no other key made, as the operator's command makes them. */
async function issueOperatorKey(
  { db, keys: { keyDigest } }: Core,
  organisation: string,
  permissions: readonly string[],
) {
  const organisationId = parsePublicId("organisation", organisation) ?? "";
  const { token } = await db.inOrganisation(organisationId, (trx) =>
    issueKey(
      trx,
      keyDigest,
      { organisationId },
      {
        ...{ agentId: null, name: "test", role: null, createdBy: null, creators: [], expiresAt: null },
        permissions: permissions as Permission[],
      },
    ),
  );
  return token;
}

function organisationAt({ url, server }: ApiNode, id: string, adminKey: string): Organisation {
  const call: Organisation["call"] = (key, request, as = adminKey) => send(url, as, key, request);
  return {
    id,
    adminKey,
    call,
    createKey: async (key) => {
      // Only a key with `operate` may grant it, and a key may not decide on the runs of the key that made it.
      const isIndependent = key.permissions?.some((one) => one === "operate" || one === "approve") && !key.agent_id;
      if (isIndependent && key.permissions) return issueOperatorKey(server.core, id, key.permissions);
      const created = await call("POST /v1/keys", { body: { name: "test", ...key } as never });
      if (created.status !== 201) throw new Error(`no key was created: ${JSON.stringify(created.body)}`);
      return created.body.data.key;
    },
  };
}

interface StartOptions {
  /** Also start an engine and a worker, so that agents can run. */
  readonly withWorker?: boolean;
  readonly logger?: Logger;
  /** How long an erasure waits for requests on their way, and for runs under way. */
  readonly erasurePauseMs?: number;
  /** How often event streams check their key. */
  readonly heartbeatMs?: number;
}

export async function startPerch(
  overrides: Partial<Config> = {},
  { withWorker = false, logger = silent, erasurePauseMs, heartbeatMs }: StartOptions = {},
): Promise<Perch & { readonly stop: () => Promise<void> }> {
  const database = await createTestDatabase();
  const engine = withWorker ? await startRestate() : undefined;
  const config = testConfig(database, {
    ...(engine && { ingressUrls: engine.ingressUrls, adminUrls: engine.adminUrls }),
    workerPort: 0,
    ...overrides,
  });
  const workers: { readonly core: Core; readonly worker: Worker }[] = [];
  const addWorker = async (): Promise<Worker> => {
    const core = composeCore(config, logger);
    const worker = await composeWorker(core, { erasurePauseMs });
    workers.push({ core, worker });
    return worker;
  };
  const nodes: ApiNode[] = [];
  const addApiNode = async (): Promise<ApiNode> => {
    const server = await startApi(config, logger, undefined, heartbeatMs);
    const node = { server, url: await server.app.listen({ host: "127.0.0.1", port: 0 }) };
    nodes.push(node);
    return node;
  };
  const first = await addApiNode();
  if (withWorker) await addWorker();
  return {
    ...first,
    database,
    addApiNode,
    addWorker,
    createOrganisation: async (tier = "enterprise") => {
      const { id, key } = await createOrganisation(depsOf(first.server.core), { name: "Test", tier });
      return organisationAt(first, id, key);
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
export function usePerch(overrides: Partial<Config> = {}, options: StartOptions = {}): () => Perch {
  let perch: Awaited<ReturnType<typeof startPerch>> | undefined;
  beforeAll(async () => {
    perch = await startPerch(overrides, options);
  });
  afterAll(() => perch?.stop());
  return () => {
    if (!perch) throw new Error("Perch has not started yet");
    return perch;
  };
}
