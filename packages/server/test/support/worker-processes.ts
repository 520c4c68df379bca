import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { installationSettings } from "@perch/testkit/installation/installation-settings.ts";
import { startRestate } from "@perch/testkit/installation/restate-process.ts";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { startWorker, type WorkerProcess } from "@perch/testkit/installation/server-process.ts";
import { afterAll, beforeAll } from "vitest";
import type { Config } from "../../src/config/config.ts";
import { type Perch, startPerch } from "./harness.ts";

/** One address for all workers, as with a load balancer: each connection goes to the first worker that accepts it. */
async function startFailoverProxy(ports: () => readonly number[]): Promise<Server> {
  const connectToFirst = (client: Socket, [port, ...others]: readonly number[]) => {
    if (port === undefined) return client.destroy();
    const worker = connect(port, "127.0.0.1");
    const next = () => connectToFirst(client, others);
    worker.once("error", next);
    worker.once("connect", () => {
      worker.off("error", next);
      client.pipe(worker).pipe(client);
      for (const [end, other] of [
        [client, worker],
        [worker, client],
      ] as const)
        end.on("error", () => other.destroy()).on("close", () => other.destroy());
    });
  };
  const server = createServer((client) =>
    connectToFirst(
      client.on("error", () => client.destroy()),
      ports(),
    ),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

export interface PerchWithWorkerProcesses {
  readonly perch: Perch;
  /** Starts worker processes until there are `count`. The oldest serves; when it ends, the next takes over. */
  readonly ensureWorkers: (count: number) => Promise<void>;
  /** Ends the worker that serves, with this signal. */
  readonly endActiveWorker: (signal: Parameters<WorkerProcess["end"]>[0]) => Promise<void>;
}

async function startPerchWithWorkerProcesses(settings: NodeJS.ProcessEnv, change: Partial<Config>) {
  const engine = await startRestate();
  const valkeyUrl = serviceUrl("PERCH_VALKEY_URL");
  const perch = await startPerch({ ingressUrls: engine.ingressUrls, valkeyUrl, ...change });
  const workers: WorkerProcess[] = [];
  const proxy = await startFailoverProxy(() => workers.map(({ port }) => port));
  const address = proxy.address();
  const env = {
    PERCH_WORKER_URL: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`,
    ...installationSettings({ valkeyUrl, engine, masterKey: perch.server.core.config.masterKey.toString("base64") }),
    PERCH_LOG_LEVEL: "silent",
    ...settings,
  };
  return {
    perch,
    ensureWorkers: async (count: number) => {
      while (workers.length < count) workers.push(await startWorker(perch.database, env));
    },
    endActiveWorker: async (signal: "SIGKILL" | "SIGTERM") => {
      await workers[0]?.end(signal);
      workers.shift();
    },
    stop: async () => {
      for (const worker of workers) await worker.end("SIGKILL");
      proxy.close();
      await perch.stop();
      await engine.stop();
    },
  };
}

/** An API node, an engine and separate worker processes behind one address, for one test file. `settings` are the workers' environment. */
export function usePerchWithWorkerProcesses(
  settings: NodeJS.ProcessEnv,
  change: Partial<Config> = {},
): () => PerchWithWorkerProcesses {
  let started: Awaited<ReturnType<typeof startPerchWithWorkerProcesses>> | undefined;
  beforeAll(async () => {
    started = await startPerchWithWorkerProcesses(settings, change);
  }, 60_000);
  afterAll(() => started?.stop());
  return () => {
    if (!started) throw new Error("Perch has not started yet");
    return started;
  };
}
