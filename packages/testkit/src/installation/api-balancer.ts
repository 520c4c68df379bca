import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitUntil } from "../services/commands.ts";
import { acceptsConnections, freePort } from "./server-process.ts";

/** HAProxy in front of API nodes. Every answer names its node in `x-served-by`. */
const configuration = (listenPort: number, urls: readonly string[]): string => `global
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 1m
  timeout server 1m
frontend api
  bind 127.0.0.1:${listenPort}
  default_backend nodes
backend nodes
  balance roundrobin
  option httpchk GET /readyz
  option redispatch
  retries 2
  retry-on conn-failure
  default-server inter 200ms fall 1 rise 1
  http-response set-header x-served-by %s
${urls.map((url, index) => `  server node-${index} ${new URL(url).host} check`).join("\n")}
`;

export async function startApiBalancer(urls: readonly string[]) {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "perch-balancer-"));
  const file = join(folder, "haproxy.cfg");
  writeFileSync(file, configuration(port, urls));
  const child = spawn("haproxy", ["-db", "-f", file], { stdio: "ignore" });
  const stop = async () => {
    child.kill("SIGKILL");
    await once(child, "exit");
    rmSync(folder, { recursive: true, force: true });
  };
  if (await waitUntil(() => acceptsConnections(port), 10)) return { url: `http://127.0.0.1:${port}`, stop };
  await stop();
  throw new Error("HAProxy did not start. On Debian: apt-get install haproxy");
}
