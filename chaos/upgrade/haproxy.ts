import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { acceptsConnections, freePort } from "@perch/testkit/installation/server-process.ts";
import { waitUntil } from "@perch/testkit/services/commands.ts";

export interface Haproxy {
  readonly url: string;
  /** Resolves when the proxy sends requests to the server at this port, or no longer does. */
  readonly untilServing: (port: number, isServing: boolean) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** As docs/operations/balancers.md asks for it: `/readyz` decides, answers may take 15 minutes, a refused connection goes elsewhere. */
const configuration = (listenPort: number, statusPort: number, ports: readonly number[]) => `defaults
  mode http
  timeout connect 2s
  timeout check 5s
  timeout client 920s
  timeout server 920s
  retries 3
  option redispatch 1
frontend api
  bind 127.0.0.1:${listenPort}
  default_backend perch
frontend status
  bind 127.0.0.1:${statusPort}
  stats enable
  stats uri /status
backend perch
  balance roundrobin
  option httpchk GET /readyz
  default-server check inter 500ms fall 1 rise 1
${ports.map((port) => `  server node-${port} 127.0.0.1:${port}`).join("\n")}
`;

/** Starts a real HAProxy in front of API nodes at these ports. Some of the nodes may not run. */
export async function startHaproxy(ports: readonly number[]): Promise<Haproxy> {
  const folder = mkdtempSync(join(tmpdir(), "perch-haproxy-"));
  const [listenPort, statusPort] = [await freePort(), await freePort()];
  const file = join(folder, "haproxy.cfg");
  writeFileSync(file, configuration(listenPort, statusPort, ports));
  const child = spawn("haproxy", ["-db", "-f", file], { stdio: "ignore" });
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    rmSync(folder, { recursive: true, force: true });
  };
  if (!(await waitUntil(() => acceptsConnections(listenPort), 10))) {
    await stop();
    throw new Error("HAProxy does not listen after 10 s. Is it installed? On Debian: apt-get install haproxy");
  }
  const readStatus = async (port: number): Promise<string> => {
    const lines = (await (await fetch(`http://127.0.0.1:${statusPort}/status;csv`)).text()).split("\n");
    const column = lines[0]?.split(",").indexOf("status") ?? -1;
    return lines.find((line) => line.startsWith(`perch,node-${port},`))?.split(",")[column] ?? "unknown";
  };
  return {
    url: `http://127.0.0.1:${listenPort}`,
    untilServing: async (port, isServing) => {
      const isReached = async () => (await readStatus(port)).startsWith("UP") === isServing;
      if (!(await waitUntil(isReached, 60)))
        throw new Error(`HAProxy says ${await readStatus(port)} of the node at port ${port} after 60 s`);
    },
    stop,
  };
}
