import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Certificate } from "@perch/testkit/identity/certificates.ts";
import { acceptsConnections, freePort } from "@perch/testkit/installation/server-process.ts";
import { vi } from "vitest";

const deploy = join(import.meta.dirname, "../../../../deploy");

export const balancerFiles = {
  HAProxy: join(deploy, "haproxy/haproxy.cfg"),
  nginx: join(deploy, "nginx/perch.conf"),
} as const;
export type BalancerName = keyof typeof balancerFiles;

interface BalancerOptions {
  readonly directory: string;
  readonly server: Certificate;
  /** Issues the certificates of clients. */
  readonly authority: Certificate;
  readonly apiPorts: readonly [number, number];
  readonly workerPorts: readonly [number, number];
  /** The address at which the engine reaches the workers, which must know it before they start. */
  readonly enginePort: number;
}

export interface Balancer {
  /** The address at which clients reach the API. */
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** Makes only the changes that an operator makes to the file. Fails on a text that the file no longer has. */
function replaceAll(text: string, changes: Readonly<Record<string, string>>): string {
  return Object.entries(changes).reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`The configuration has no ${JSON.stringify(from)}`);
    return changed.replaceAll(from, to);
  }, text);
}

const addresses = ({ apiPorts, workerPorts }: BalancerOptions): Record<string, string> => ({
  "10.0.0.11:7400": `127.0.0.1:${apiPorts[0]}`,
  "10.0.0.12:7400": `127.0.0.1:${apiPorts[1]}`,
  "10.0.0.21:7401": `127.0.0.1:${workerPorts[0]}`,
  "10.0.0.22:7401": `127.0.0.1:${workerPorts[1]}`,
});

interface Ports {
  readonly api: number;
  readonly blue: number;
  readonly green: number;
}

function writeHaproxyFile(options: BalancerOptions, { api, blue, green }: Ports): string[] {
  const { directory, server, authority } = options;
  const pem = join(directory, "perch.pem");
  writeFileSync(pem, server.cert + server.key);
  const file = join(directory, "balancer.cfg");
  const text = replaceAll(readFileSync(balancerFiles.HAProxy, "utf8"), {
    ...addresses(options),
    "bind :443": `bind 127.0.0.1:${api}`,
    "bind :7401": `bind 127.0.0.1:${blue}`,
    "bind :7402": `bind 127.0.0.1:${green}`,
    "/etc/haproxy/perch.pem": pem,
    "/etc/haproxy/clients-ca.crt": authority.certFile,
    "log /dev/log local0 info": "log stderr format raw local0 err",
  });
  writeFileSync(file, text);
  return ["haproxy", "-db", "-f", file];
}

/** Adds only the places of files, because the files of Debian's package under /var belong to another user. */
function writeNginxFile(options: BalancerOptions, { api, blue, green }: Ports): string[] {
  const { server, authority } = options;
  const directory = join(options.directory, "nginx");
  mkdirSync(directory, { recursive: true });
  // Its worker is another user if this one is root.
  chmodSync(options.directory, 0o755);
  chmodSync(directory, 0o777);
  const kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  const places = kinds.map((kind) => `${kind}_temp_path ${join(directory, kind)};`);
  const file = join(directory, "nginx.conf");
  const text = replaceAll(readFileSync(balancerFiles.nginx, "utf8"), {
    ...addresses(options),
    "listen 443 ": `listen 127.0.0.1:${api} `,
    "listen 7401;": `listen 127.0.0.1:${blue};`,
    "listen 7402;": `listen 127.0.0.1:${green};`,
    "/etc/nginx/perch.crt": server.certFile,
    "/etc/nginx/perch.key": server.keyFile,
    "/etc/nginx/clients-ca.crt": authority.certFile,
    "pid /run/nginx.pid;": `pid ${join(directory, "pid")};\nerror_log stderr error;\ndaemon off;`,
    "http {\n": `http {\n${places.join("\n")}\naccess_log off;\n`,
  });
  writeFileSync(file, text);
  copyFileSync(join(deploy, "nginx/client-certificate.conf"), join(directory, "client-certificate.conf"));
  return ["nginx", "-e", "stderr", "-c", file];
}

/** Starts a real balancer with the file of this repository in front of API nodes and workers on loopback. */
export async function startBalancer(name: BalancerName, options: BalancerOptions): Promise<Balancer> {
  const ports = { api: await freePort(), blue: options.enginePort, green: await freePort() };
  const [command = "", ...args] = (name === "nginx" ? writeNginxFile : writeHaproxyFile)(options, ports);
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (text: Buffer) => {
    said = (said + text.toString("utf8")).slice(-2000);
  });
  child.on("error", (error) => {
    said += `${error.message}. On Debian: apt-get install nginx-light libnginx-mod-stream haproxy`;
  });
  await vi.waitFor(
    async () => {
      if (!(await acceptsConnections(ports.api))) throw new Error(`${name} does not listen: ${said}`);
    },
    { timeout: 10_000 },
  );
  return {
    url: `https://127.0.0.1:${ports.api}`,
    stop: async () => {
      if (child.exitCode !== null) return;
      // nginx ends its own worker processes on SIGTERM, and would leave them on SIGKILL.
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}
