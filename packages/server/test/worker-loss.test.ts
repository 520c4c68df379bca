import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RestateCluster, startRestate } from "../../../scripts/testbed/restate-process.ts";
import { serviceUrl } from "../../../scripts/testbed/scratch-database.ts";
import { startWorker, type WorkerProcess } from "../../../scripts/testbed/server-process.ts";
import { startPerch } from "./harness.ts";
import { invokeAt, scripted } from "./invoking.ts";
import { lastSaid, startScriptServer } from "./script-server.ts";

const echo = { tool_calls: [{ name: "perch_echo", arguments: {} }] };
const script = await startScriptServer((call) => {
  if (lastSaid(call) === "warm up") return { reply: "warm" };
  return call.step === 1 ? echo : { reply: `done: ${lastSaid(call)}`, delay_ms: 1000 };
});
const stepsOf = (message: string): number[] =>
  script.calls.filter((call) => lastSaid(call) === message).map(({ step }) => step);

/** One address for all workers, as a load balancer gives: the first that takes a connection serves it. */
async function startDoor(ports: () => readonly number[]): Promise<Server> {
  const offer = (client: Socket, [port, ...others]: readonly number[]) => {
    if (port === undefined) return client.destroy();
    const worker = connect(port, "127.0.0.1");
    const next = () => offer(client, others);
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
    offer(
      client.on("error", () => client.destroy()),
      ports(),
    ),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

let engine: RestateCluster;
let perch: Awaited<ReturnType<typeof startPerch>>;
let door: Server;
const workers: WorkerProcess[] = [];

const addWorker = async (): Promise<WorkerProcess> => {
  const address = door.address();
  const worker = await startWorker(perch.database, {
    PERCH_WORKER_URL: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`,
    PERCH_RESTATE_ADMIN_URL: engine.adminUrls.join(","),
    PERCH_SCRIPT_URL: script.url,
    PERCH_VALKEY_URL: serviceUrl("PERCH_VALKEY_URL"),
    PERCH_MASTER_KEY: perch.server.core.config.masterKey.toString("base64"),
    PERCH_LOG_LEVEL: "silent",
  });
  workers.push(worker);
  return worker;
};

beforeAll(async () => {
  engine = await startRestate();
  perch = await startPerch({ ingressUrls: engine.ingressUrls, valkeyUrl: serviceUrl("PERCH_VALKEY_URL") });
  door = await startDoor(() => workers.map(({ port }) => port));
}, 60_000);
afterAll(async () => {
  for (const worker of workers) await worker.end("SIGKILL");
  door.close();
  await perch.stop();
  await engine.stop();
  await script.close();
});

async function withBot() {
  const organisation = await perch.newOrganisation();
  await scripted(organisation);
  expect((await invokeAt(perch, organisation.adminKey, { message: "warm up" })).data.response).toBe("warm");
  return organisation;
}

describe("a worker that is lost", () => {
  test.each([
    ["killed", "SIGKILL"],
    ["stopped", "SIGTERM"],
  ] as const)(
    "%s between two model steps: who waits gets the answer, and the first step was not repeated",
    async (how, signal) => {
      const serving = workers.length > 0 ? workers[0] : await addWorker();
      const { adminKey } = await withBot();
      await addWorker();
      const context = { session_id: how };
      const waiting = [
        invokeAt(perch, adminKey, { message: `${how} alone` }),
        invokeAt(perch, adminKey, { message: `${how} in a session`, context }),
      ];
      const messages = [`${how} alone`, `${how} in a session`];
      for (const message of messages) await expect.poll(() => stepsOf(message), { timeout: 5000 }).toEqual([1, 2]);
      await serving?.end(signal);
      workers.shift();
      const answers = await Promise.all(waiting);
      expect(answers.map(({ status, data }) => [status, data.response])).toEqual(
        messages.map((message) => [200, `done: ${message}`]),
      );
      for (const message of messages) {
        // The step that was under way when the worker went may have been asked twice, and no other.
        expect(stepsOf(message).filter((step) => step === 1)).toHaveLength(1);
        expect(stepsOf(message).length).toBeLessThanOrEqual(3);
      }
      if (signal === "SIGKILL") expect(stepsOf(`${how} alone`)).toEqual([1, 2, 2]);
    },
    60_000,
  );
});
