import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Certificate } from "@perch/testkit/identity/certificates.ts";
import { acceptsConnections, freePort } from "@perch/testkit/installation/server-process.ts";
import { vi } from "vitest";

interface HaproxyOptions {
  readonly directory: string;
  readonly server: Certificate;
  readonly authority: Certificate;
  /** The port at which Perch listens. */
  readonly port: number;
  /** The source address of the proxy's connections to Perch. */
  readonly from: string;
}

/** Starts a real HAProxy that terminates TLS, requests a client certificate and forwards it as RFC 9440 describes. */
export async function startHaproxy({ directory, server, authority, port, from }: HaproxyOptions) {
  const listenPort = await freePort();
  writeFileSync(join(directory, "server.pem"), server.cert + server.key);
  const file = join(directory, "haproxy.cfg");
  writeFileSync(
    file,
    `defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend api
  bind 127.0.0.1:${listenPort} ssl crt ${join(directory, "server.pem")} ca-file ${authority.certFile} verify optional
  http-request del-header Client-Cert
  http-request set-header Client-Cert ":%[ssl_c_der,base64]:" if { ssl_c_used }
  http-request set-header X-Forwarded-Proto https
  http-request set-header X-Forwarded-For %[src]
  default_backend perch
backend perch
  server one 127.0.0.1:${port} source ${from}
`,
  );
  const child = spawn("haproxy", ["-db", "-f", file], { stdio: "ignore" });
  await vi.waitFor(
    async () => {
      if (!(await acceptsConnections(listenPort))) throw new Error(`HAProxy does not listen on port ${listenPort}`);
    },
    { timeout: 5000 },
  );
  return {
    url: `https://127.0.0.1:${listenPort}`,
    stop: async () => {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}
