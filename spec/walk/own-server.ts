import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type Certificate, createCertificates } from "@perch/testkit/identity/certificates.ts";
import { type OpenIdProvider, startOpenIdProvider } from "@perch/testkit/identity/open-id-provider.ts";
import { startInstallation } from "@perch/testkit/installation/installation.ts";
import { type ScratchDatabase, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { serverMain } from "@perch/testkit/installation/server-main.ts";
import { freePort, scratchSettings } from "@perch/testkit/installation/server-process.ts";
import { sendRequest } from "./http-client.ts";
import { type HttpsReceiver, startHttpsReceiver } from "./https-receiver.ts";

const root = join(import.meta.dirname, "../..");

export interface OwnServer {
  readonly url: string;
  /** A second node, which serves HTTPS itself. */
  readonly tlsUrl: string;
  readonly authority: Certificate;
  readonly clientCertificate: Certificate;
  /** A certificate of an untrusted authority. */
  readonly foreignCertificate: Certificate;
  readonly keys: { readonly free: string; readonly pro: string; readonly enterprise: string };
  readonly receiver: HttpsReceiver;
  readonly issuer: OpenIdProvider;
  readonly sql: (query: string) => Promise<number>;
  readonly stop: () => Promise<void>;
}

async function createOrganisations(database: ScratchDatabase): Promise<OwnServer["keys"]> {
  const tiers = ["free", "pro", "enterprise"];
  const script = join(root, "packages/testkit/src/installation/create-organisations.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...tiers.flatMap((tier) => [tier, tier])], {
    env: { ...process.env, ...scratchSettings(database, 0) },
  });
  const [free = "", pro = "", enterprise = ""] = stdout.trim().split("\n");
  return { free, pro, enterprise };
}

async function startTlsNode(database: ScratchDatabase, settings: NodeJS.ProcessEnv, authority: Certificate) {
  const port = await freePort();
  const url = `https://127.0.0.1:${port}`;
  const env = { ...process.env, ...scratchSettings(database, port), ...settings };
  const child: ChildProcess = spawn(process.execPath, [serverMain, "serve"], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  for (let attempt = 0; attempt < 1200 && child.exitCode === null; attempt++) {
    const ready = await sendRequest("GET", `${url}/readyz`, { tls: { ca: authority.cert } }).catch(() => undefined);
    if (ready?.status === 200) return { url, child };
    await sleep(100);
  }
  child.kill("SIGKILL");
  throw new Error("The server with TLS is not ready after 120 s");
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}

/** A server, a node with TLS, an engine, a token issuer and a webhook receiver, all on a separate database. */
export async function startOwnServer(): Promise<OwnServer> {
  const undo: (() => unknown)[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const certificates = createCertificates();
    undo.push(() => certificates.remove());
    const authority = certificates.createAuthority("authority");
    certificates.createAuthority("other-authority");
    const serverCertificate = certificates.issue("authority", { name: "server", usage: "serverAuth" });
    const perch = await startInstallation({
      settings: {
        PERCH_UNAUTHENTICATED_REQUESTS_PER_MINUTE: "100000",
        PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: "127.0.0.0/8",
        NODE_EXTRA_CA_CERTS: authority.certFile,
      },
    });
    undo.push(perch.stop);
    const { database, settings } = perch;
    const keys = await createOrganisations(database);
    const receiver = await startHttpsReceiver(serverCertificate);
    undo.push(() => receiver.close());
    const issuer = await startOpenIdProvider();
    undo.push(() => issuer.stop());
    const tls = { cert: serverCertificate.certFile, key: serverCertificate.keyFile };
    const security = JSON.stringify({ tls, certificates: certificates.directory });
    const tlsNode = await startTlsNode(database, { ...settings, PERCH_SECURITY: security }, authority);
    undo.push(() => endChild(tlsNode.child));
    return {
      url: perch.url,
      tlsUrl: tlsNode.url,
      authority,
      clientCertificate: certificates.issue("authority", { name: "client" }),
      foreignCertificate: certificates.issue("other-authority", { name: "foreign" }),
      keys,
      receiver,
      issuer,
      sql: (query) => withClient(database.adminUrl, async (client) => (await client.query(query)).rowCount ?? 0),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
