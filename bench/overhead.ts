import { createHmac, randomBytes, X509Certificate } from "node:crypto";
import { createCertificates } from "../packages/server/test/support/certificates.ts";
import { createScratchDatabase } from "../scripts/testbed/scratch-database.ts";
import { runCommand, startServer } from "../scripts/testbed/server-process.ts";
import { createOrganisationsWithAgent } from "./bench-organisations.ts";
import { startChild } from "./child-process.ts";
import { latencies, median, throughput } from "./load.ts";

const rounds = 5;
const seconds = 3;

/** The environment with every security setting on, and the headers that a trusted proxy then forwards with each request. */
function allSettings(certificates: ReturnType<typeof createCertificates>) {
  const authority = certificates.createAuthority("clients");
  const { cert } = certificates.issue("clients", { name: "client" });
  const secret = randomBytes(32).toString("hex");
  const security = {
    enforceHttps: true,
    hsts: { enabled: true, maxAge: 31_536_000 },
    ipWhitelist: { enabled: true, addresses: ["192.0.2.0/24", "10.0.0.0/8"] },
    mtls: { enabled: true, caCert: authority.certFile },
    mfa: { enabled: true, operations: ["delete", "update"] },
    auth: { type: "jwt", secret },
  };
  const nowSeconds = Math.floor(Date.now() / 1000);
  const claims = { user_id: "bench", iat: nowSeconds, exp: nowSeconds + 3600 };
  const signed = [{ alg: "HS256" }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const token = `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
  return {
    env: { PERCH_SECURITY: JSON.stringify(security), PERCH_TRUSTED_PROXIES: "127.0.0.1" },
    headers: {
      "x-forwarded-for": "10.1.2.3",
      "x-forwarded-proto": "https",
      "client-cert": `:${new X509Certificate(cert).raw.toString("base64")}:`,
      "x-user-token": token,
    },
  };
}

/** Get Agent with authentication, limits, Valkey, validation and envelope, against a bare Fastify route with the same bytes. */
export async function overhead(): Promise<Record<string, number>> {
  const database = await createScratchDatabase();
  await runCommand(database, ["migrate"]);
  const server = await startServer(database);
  const { headers, body } = await createOrganisationsWithAgent(database, server.url, "perch/echo");
  const target = { url: `${server.url}/v1/agents/bench`, headers };
  const certificates = createCertificates();
  const settings = allSettings(certificates);
  const strict = await startServer(database, settings.env);
  const tightened = {
    url: `${strict.url}/v1/agents/bench`,
    headers: headers.map((each) => ({ ...each, ...settings.headers })),
  };
  const bare = await startChild("bare-server.ts", { BARE_BODY: body });
  try {
    const plain = { url: `${bare.line}/v1/agents/bench`, headers: target.headers };
    const full: number[] = [];
    const empty: number[] = [];
    const guarded: number[] = [];
    await throughput(plain, 64, 2);
    await throughput(target, 64, 2);
    // One by one: many unknown keys at once from one address would be throttled as guessing.
    for (const each of tightened.headers) await fetch(tightened.url, { headers: each });
    await throughput(tightened, 64, 2);
    for (let round = 1; round <= rounds; round++) {
      empty.push(await throughput(plain, 64, seconds));
      full.push(await throughput(target, 64, seconds));
      guarded.push(await throughput(tightened, 64, seconds));
      console.error(
        `round ${round}: bare ${empty.at(-1)} requests/s, Get Agent ${full.at(-1)}, with all settings ${guarded.at(-1)}`,
      );
    }
    const [p50Bare, p50Full] = [[] as number[], [] as number[]];
    for (let round = 0; round < 10; round++) {
      p50Bare.push(median(await latencies(plain, 100)));
      p50Full.push(median(await latencies(target, 100)));
    }
    const round = (value: number) => Math.round(value * 100) / 100;
    return {
      throughput_ratio_c64: round(median(full) / median(empty)),
      settings_ratio_c64: round(median(guarded) / median(full)),
      p50_overhead_ms_c1: round(median(p50Full) - median(p50Bare)),
    };
  } finally {
    await bare.stop();
    await server.stop();
    await strict.stop();
    certificates.remove();
    await database.drop();
  }
}
