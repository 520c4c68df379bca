import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { childrenOf } from "@perch/testkit/installation/child-processes.ts";
import { installationSettings } from "@perch/testkit/installation/installation-settings.ts";
import { type RestateCluster, startRestate } from "@perch/testkit/installation/restate-process.ts";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { serverMain } from "@perch/testkit/installation/server-main.ts";
import {
  freePort,
  type ServerProcess,
  scratchSettings,
  startServer,
} from "@perch/testkit/installation/server-process.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ok } from "../support/contract-client.ts";
import { type Organisation, type Perch, startPerch } from "../support/harness.ts";
import { createScriptedAgent, invokeAgent } from "../support/invoke-calls.ts";
import { slowness } from "../support/thread-time.ts";

let engine: RestateCluster;
let perch: Perch & { readonly stop: () => Promise<void> };
let all: ServerProcess;
let organisation: Organisation;
let metricsUrl: string;
let logs = "";
let settings: NodeJS.ProcessEnv;

beforeAll(async () => {
  engine = await startRestate();
  const valkeyUrl = serviceUrl("PERCH_VALKEY_URL");
  perch = await startPerch({ ingressUrls: engine.ingressUrls, valkeyUrl });
  const masterKey = perch.server.core.config.masterKey.toString("base64");
  const metricsPort = await freePort();
  metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  settings = {
    ...installationSettings({ valkeyUrl, engine, masterKey }),
    PERCH_WORKER_PORT: String(await freePort()),
    PERCH_METRICS_PORT: String(metricsPort),
    PERCH_LOG_LEVEL: "info",
  };
  all = await startServer(perch.database, settings, "all", (text) => {
    logs += text.toString();
  });
  organisation = await perch.createOrganisation();
  await createScriptedAgent(organisation, [{ reply: "done", delay_ms: 300 }]);
}, 90_000);

afterAll(async () => {
  await all.stop();
  await perch.stop();
  await engine.stop();
});

/** The processes that this one started, by their role. */
function childPids(): Readonly<Record<string, number>> {
  return Object.fromEntries(
    childrenOf(all.child.pid ?? 0).map((child) => [
      readFileSync(`/proc/${child}/cmdline`, "utf8").split("\0").at(-3) ?? "",
      child,
    ]),
  );
}

const invoke = (key: string) =>
  invokeAgent(all, organisation.adminKey, { message: key }, { headers: { "idempotency-key": key } });

/** As a client does: the same request again until it has an answer. */
async function invokeUntilAnswered(key: string): Promise<unknown> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const answer = await invoke(key).catch(() => undefined);
    if (answer?.status === 200) return answer.data.response;
    await sleep(100);
  }
  return undefined;
}

const readMetrics = async (): Promise<string> => (await fetch(metricsUrl)).text();

describe("`all` with Valkey is two processes", () => {
  test("whose metrics are at one port, each series with the name of its process", async () => {
    const text = await readMetrics();
    expect(text).toMatch(/^perch_build_info\{process="work",.*role="work".*\} 1$/m);
    expect(text).toMatch(/^perch_build_info\{process="serve",.*role="serve".*\} 1$/m);
    expect(text.match(/^# TYPE perch_build_info /gm)).toHaveLength(1);
    expect(text).toContain('perch_process_restarts_total{process="work"} 0');
  });

  test.each([
    ["work", 20],
    ["serve", 40],
  ])(
    "%s is killed under load: no run is lost, the other goes on, and it is back within 5 s",
    async (role, runs) => {
      const { [role]: killed = 0, ...others } = childPids();
      const answers = Promise.all(Array.from({ length: 20 }, (_, n) => invokeUntilAnswered(`${role}-${n}`)));
      await sleep(150);
      process.kill(killed, "SIGKILL");
      const killedAt = performance.now();
      if (role === "work") expect((await fetch(`${all.url}/readyz`)).status).toBe(200);
      await expect.poll(() => childPids()[role] ?? killed, { timeout: 20_000 }).not.toBe(killed);
      const ready = () =>
        fetch(`${all.url}/readyz`).then(
          ({ status }) => status,
          () => 0,
        );
      await expect.poll(ready, { timeout: 20_000 }).toBe(200);
      expect(performance.now() - killedAt).toBeLessThan(5000 * slowness());
      expect(await answers).toEqual(Array.from({ length: 20 }, () => "done"));
      expect(childPids()).toMatchObject(others);
      await expect.poll(readMetrics).toContain(`perch_process_restarts_total{process="${role}"} 1`);
      const list = await organisation.call("GET /v1/agents/{agent_id}/invocations", {
        params: { agent_id: "bot" },
        query: { limit: 100 },
      });
      const statuses = ok(list).data.map(({ status }) => status);
      expect(statuses).toEqual(Array.from({ length: runs }, () => "completed"));
    },
    90_000,
  );

  test("that end in order with the one that started them", async () => {
    const pids = Object.values(childPids());
    expect(pids).toHaveLength(2);
    const waiting = invoke("last");
    await sleep(100);
    expect(await all.stop()).toBe(0);
    expect((await waiting).data.response).toBe("done");
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    expect(logs.match(/"stopped both processes"/g)).toHaveLength(1);
  }, 60_000);

  test("that end when the one that started them is killed", async () => {
    const again = await startServer(perch.database, settings, "all");
    const pids = childrenOf(again.child.pid ?? 0);
    expect(pids).toHaveLength(2);
    again.child.kill("SIGKILL");
    const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  }, 60_000);

  test.each([0, 1, 5])(
    "and ends at once on a signal %d ms after its worker has started",
    async (ms) => {
      const child = spawn(process.execPath, [serverMain, "all"], {
        env: { ...process.env, ...scratchSettings(perch.database, await freePort()), ...settings },
        stdio: ["ignore", "ignore", "pipe"],
      });
      const exited = once(child, "exit");
      await new Promise<void>((resolve) =>
        child.stderr.on("data", (text: Buffer) => text.includes('"role":"work"') && resolve()),
      );
      const pids = childrenOf(child.pid ?? 0);
      await sleep(ms);
      child.kill("SIGTERM");
      expect(await exited).toEqual([128 + 15, null]);
      expect(pids.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
    },
    30_000,
  );
});
