import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { acceptsConnections, freePort } from "@perch/testkit/installation/server-process.ts";

export interface WorkerBalancer {
  readonly url: string;
  readonly pids: () => readonly number[];
  readonly stop: () => Promise<void>;
}

/** HAProxy in front of workers, HTTP/2 without TLS on both sides. It sends each request to the next worker. */
const configuration = (listenPort: number, workerPorts: readonly number[]): string => `global
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 1h
  timeout server 1h
frontend engine
  bind 127.0.0.1:${listenPort} proto h2
  default_backend workers
backend workers
  balance roundrobin
  retry-on conn-failure
${workerPorts.map((port) => `  server worker-${port} 127.0.0.1:${port} proto h2`).join("\n")}
`;

export async function startWorkerBalancer(workerPorts: readonly number[]): Promise<WorkerBalancer> {
  const listenPort = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "perch-balancer-"));
  const file = join(folder, "haproxy.cfg");
  writeFileSync(file, configuration(listenPort, workerPorts));
  const child = spawn("haproxy", ["-db", "-f", file], { stdio: ["ignore", "ignore", "inherit"] });
  child.on("error", (error) => console.error(`haproxy does not start: ${error.message}`));
  for (let attempt = 0; !(await acceptsConnections(listenPort)); attempt++) {
    if (child.pid === undefined || child.exitCode !== null || attempt === 100) throw new Error("HAProxy did not start");
    await sleep(50);
  }
  return {
    url: `http://127.0.0.1:${listenPort}`,
    pids: () => (child.pid === undefined ? [] : [child.pid]),
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGKILL");
        await once(child, "exit");
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
