import { setTimeout as sleep } from "node:timers/promises";
import { createMasterKey, installationSettings } from "@perch/testkit/installation/installation-settings.ts";
import { type RestateCluster, startRestate } from "@perch/testkit/installation/restate-process.ts";
import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { startWorker, type WorkerProcess } from "@perch/testkit/installation/server-process.ts";
import { startValkey, type ValkeyProcess } from "@perch/testkit/installation/valkey-process.ts";
import { afterAll, beforeAll } from "vitest";
import { agentRuns } from "../../src/engine/services.ts";
import type { Finding } from "../../src/operator/doctor/check.ts";
import { examine } from "../../src/operator/doctor/examine.ts";
import { createTestDatabase, type TestDatabase } from "./test-database.ts";

/** Everything that `perch-server doctor` looks at, for one test file, with parts that may be damaged. */
export interface Installation {
  readonly database: TestDatabase;
  /** Not migrated. */
  readonly empty: TestDatabase;
  readonly engine: RestateCluster;
  readonly valkey: ValkeyProcess;
  readonly masterKey: string;
  readonly settings: (change?: NodeJS.ProcessEnv) => NodeJS.ProcessEnv;
  readonly findings: (change?: NodeJS.ProcessEnv, now?: () => number) => Promise<readonly Finding[]>;
  /** Those that are not ok, one line each. */
  readonly problems: (change?: NodeJS.ProcessEnv, now?: () => number) => Promise<string[]>;
  readonly startWorker: (change?: NodeJS.ProcessEnv) => Promise<WorkerProcess>;
}

export const asAdmin = (statement: string, url = serviceUrl("PERCH_DATABASE_ADMIN_URL")) =>
  withClient(url, (client) => client.query<Record<string, string>>(statement));

const isRegistered = async ({ adminUrls }: RestateCluster): Promise<boolean> =>
  (await fetch(`${adminUrls[0]}/services/${agentRuns}`)).ok;

async function startInstallation(): Promise<Installation & { readonly stop: () => Promise<void> }> {
  const [database, empty, engine, valkey] = await Promise.all([
    createTestDatabase(),
    createTestDatabase({ empty: true }),
    startRestate(),
    startValkey(),
  ]);
  const masterKey = createMasterKey();
  const workers: WorkerProcess[] = [];
  const settings = (change: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
    ...installationSettings({ database, valkeyUrl: valkey.url, engine, masterKey }),
    ...change,
  });
  const findings = async (change: NodeJS.ProcessEnv = {}, now?: () => number) => {
    const { checks, close } = examine(settings(change), now);
    const found = await Promise.all(checks.map((check) => check.findings));
    // A connection that was never opened hangs for as long as its server does.
    void close().catch(() => undefined);
    return found.flat();
  };
  return {
    ...{ database, empty, engine, valkey, masterKey, settings, findings },
    problems: async (change, now) =>
      (await findings(change, now))
        .filter(({ status }) => status !== "ok")
        .map(({ name, status, message }) => `${status} ${name}: ${message}`),
    startWorker: async (change) => {
      const worker = await startWorker(database, { ...settings(), PERCH_LOG_LEVEL: "silent", ...change });
      workers.push(worker);
      // It accepts connections before it has registered.
      while (!(await isRegistered(engine))) await sleep(100);
      return worker;
    },
    stop: async () => {
      await Promise.all(workers.map((worker) => worker.end("SIGKILL")));
      await Promise.all([engine.stop(), valkey.kill(), database.drop(), empty.drop()]);
    },
  };
}

export function useInstallation(): () => Installation {
  let started: Awaited<ReturnType<typeof startInstallation>> | undefined;
  beforeAll(async () => {
    started = await startInstallation();
  }, 120_000);
  afterAll(() => started?.stop());
  return () => {
    if (!started) throw new Error("The installation has not started yet");
    return started;
  };
}
