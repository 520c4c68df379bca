import { createHmac, randomBytes, X509Certificate } from "node:crypto";
import { createCertificates } from "@perch/testkit/identity/certificates.ts";
import type { Parts } from "@perch/testkit/installation/cpu-time.ts";
import { type ServerProcess, startServer } from "@perch/testkit/installation/server-process.ts";
import { createOrganisationsWithAgent } from "./bench-organisations.ts";
import { startChild } from "./child-process.ts";
import { type Contender, compare, type Figures, roundsOf, roundTo } from "./comparison.ts";
import { startStores, toPids } from "./installation.ts";
import { checkAnswers, type LoadTarget, latencies, median } from "./load.ts";
import { createStops } from "./stops.ts";

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

const organisations = 64;

/** Get Agent with authentication, limits, Valkey, validation and envelope, against a bare Fastify route with the same bytes. */
export async function overhead({ short }: { readonly short: boolean }): Promise<Figures> {
  const stops = createStops();
  try {
    const { database, settings, parts, observer } = await startStores(stops);
    const server = await startServer(database, settings);
    stops.add(server.stop);
    const { headers, body } = await createOrganisationsWithAgent(database, server.url, "perch/echo", organisations);
    const certificates = createCertificates();
    stops.add(async () => certificates.remove());
    const all = allSettings(certificates);
    const strict = await startServer(database, { ...settings, ...all.env });
    stops.add(strict.stop);
    const bare = await startChild("bare-server.ts", { BARE_BODY: body, ...observer.env });
    stops.add(bare.stop);

    const path = "/v1/agents/bench";
    const full: LoadTarget = { url: server.url + path, headers };
    const plain: LoadTarget = { url: bare.line + path, headers };
    const guarded: LoadTarget = {
      url: strict.url + path,
      headers: headers.map((each) => ({ ...each, ...all.headers })),
    };
    // Sends them one by one, because many unknown keys at once from one address would be throttled as guessing.
    for (const target of [full, plain, guarded]) await checkAnswers(target, '"name":"bench"');
    const partsWith = ({ child }: ServerProcess): Parts => ({
      server: () => toPids(child.pid),
      ...parts,
    });
    const observe = () => observer.observe("use");
    const contenders: Contender[] = [
      { name: "Get Agent", target: full, parts: partsWith(server), observe },
      { name: "bare", target: plain, parts: { server: bare.pids }, observe },
      { name: "all settings", target: guarded, parts: partsWith(strict), observe },
      // The same target under two names shows how far apart equal code is.
      { name: "Get Agent again", target: full, parts: partsWith(server), observe },
    ];
    const compared = await compare("Get Agent", contenders, 64, roundsOf({ short }));
    const [p50Bare, p50Full] = [[] as number[], [] as number[]];
    for (let round = 0; round < (short ? 4 : 10); round++) {
      p50Bare.push(median(await latencies(plain, 100)));
      p50Full.push(median(await latencies(full, 100)));
    }
    const equal = compared.reportRatio("Get Agent", "Get Agent again");
    return {
      throughput_ratio_c64: compared.reportRatio("Get Agent", "bare").ratio,
      settings_ratio_c64: compared.reportRatio("all settings", "Get Agent").ratio,
      p50_overhead_ms_c1: roundTo(2, median(p50Full) - median(p50Bare)),
      equal_code_ratio_c64: equal.ratio,
      equal_code_spread_c64: equal.spread,
      foreign_share_c64: compared.foreignShare,
      cpu_ms_per_request: compared.cpuMs("Get Agent"),
      cpu_ms_per_request_bare: compared.cpuMs("bare"),
      cpu_ms_per_request_all_settings: compared.cpuMs("all settings"),
    };
  } finally {
    await stops.all();
  }
}
