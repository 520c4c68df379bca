import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { connect } from "node:http2";
import { request } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { ErrorBody } from "@perch/contract";
import { type Certificate, createCertificates } from "@perch/testkit/identity/certificates.ts";
import { type RestateCluster, startRestate } from "@perch/testkit/installation/restate-process.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Balancer, type BalancerName, balancerFiles, startBalancer } from "../support/balancers.ts";
import { ok } from "../support/contract-client.ts";
import { type ApiNode, type Organisation, type Perch, startPerch } from "../support/harness.ts";
import { expectRefusal, sendRawRequest } from "../support/raw-request.ts";

/**
 * The statements of docs/operations/balancers.md, with the files that operators copy. `TEST_BALANCER_WAIT_SECONDS=75`
 * also waits for an answer for that long, because the default of most programs is 60 s.
 */
const waitSeconds = Number(process.env.TEST_BALANCER_WAIT_SECONDS ?? 0);

/** The longest `timeout_seconds`, and the time that an answer may take beyond it. */
const longestAnswerSeconds = 905;

const certificates = createCertificates();
const authority = certificates.createAuthority("authority");
certificates.createAuthority("other-authority");
const server = certificates.issue("authority", { name: "server", usage: "serverAuth" });
const client = certificates.issue("authority", { name: "client" });
const longCertificate = certificates.issue("authority", { name: "long", furtherNames: 90 });
const foreignCertificate = certificates.issue("other-authority", { name: "foreign" });
afterAll(() => certificates.remove());

const header = ({ cert }: Certificate) => `:${new X509Certificate(cert).raw.toString("base64")}:`;
const portOf = ({ server: { app } }: ApiNode) => (app.server.address() as AddressInfo).port;
const [allowedAddress, otherAddress] = ["127.0.0.2", "127.0.0.3"];
/** Closes the port and every connection, as the kernel does for a process that was killed. */
function killNode({ server: { app } }: ApiNode): void {
  app.server.close();
  app.server.closeAllConnections();
}

/** An open event stream, over TLS with an authority of our own. */
async function openEvents(url: string, key: string) {
  const sent = request(url, {
    agent: false,
    ca: authority.cert,
    headers: { authorization: `Bearer ${key}`, accept: "text/event-stream" },
  });
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  let received = "";
  response.on("data", (chunk: Buffer) => {
    received += chunk.toString("utf8");
  });
  return {
    received: () => received,
    isOpen: () => !response.readableEnded && !response.destroyed,
    close: () => sent.destroy(),
  };
}

async function createAgents({ call }: Organisation): Promise<void> {
  const security = {
    "for-certificates": { mtls: { enabled: true, clientCert: "c", clientKey: "k", caCert: "authority.crt" } },
    "for-address": { ipWhitelist: { enabled: true, addresses: [allowedAddress] } },
    "for-https": { enforceHttps: true },
    open: {},
  };
  for (const [name, settings] of Object.entries(security))
    ok(
      await call("POST /v1/agents", {
        query: { force: true },
        body: { name, model: "perch/echo", security: settings },
      }),
    );
  const script = JSON.stringify({ steps: [{ reply: "late", delay_ms: waitSeconds * 1000 }] });
  const limits = { timeout_seconds: 600 };
  ok(await call("POST /v1/agents", { body: { name: "slow", model: "perch/script", instructions: script, limits } }));
}

describe.each(Object.keys(balancerFiles) as BalancerName[])("%s", (name) => {
  let engine: RestateCluster;
  let perch: Perch & { readonly stop: () => Promise<void> };
  let second: ApiNode;
  let balancer: Balancer;
  let organisation: Organisation;

  beforeAll(async () => {
    const [enginePort, workerPort] = [await freePort(), await freePort()];
    engine = await startRestate();
    perch = await startPerch({
      ingressUrls: engine.ingressUrls,
      adminUrls: engine.adminUrls,
      trustedProxies: ["127.0.0.1"],
      security: { certificates: certificates.directory },
      workerPort,
      workerUrl: `http://127.0.0.1:${enginePort}`,
    });
    second = await perch.addApiNode();
    balancer = await startBalancer(name, {
      directory: certificates.directory,
      server,
      authority,
      apiPorts: [portOf(perch), portOf(second)],
      // Nothing listens at the first one, so connections go to the other.
      workerPorts: [await freePort(), workerPort],
      enginePort,
    });
    await perch.addWorker();
    organisation = await perch.createOrganisation();
    await createAgents(organisation);
  });
  afterAll(async () => {
    await perch?.stop();
    await balancer?.stop();
    await engine?.stop();
  });

  interface Sent {
    readonly certificate?: Certificate;
    readonly headers?: Record<string, string>;
    readonly from?: string;
    readonly method?: string;
    readonly body?: unknown;
  }
  const send = (path: string, { certificate, ...sent }: Sent = {}) =>
    sendRawRequest(balancer.url + path, {
      key: organisation.adminKey,
      ...sent,
      tls: { ca: authority.cert, ...(certificate && { cert: certificate.cert, key: certificate.key }) },
    });
  const invoke = (agent: string, headers: Record<string, string> = {}) =>
    send(`/v1/agents/${agent}/invoke`, { method: "POST", body: { message: "Hello" }, headers });

  test("a run goes to a worker through the balancer, past one that is gone", async () => {
    expect(await invoke("open")).toMatchObject({ status: 200, body: { data: { response: "Hello" } } });
  });

  test("clients may speak HTTP/2", async () => {
    const session = connect(balancer.url, { ca: authority.cert });
    const stream = session.request({ ":path": "/readyz" });
    const answer = JSON.parse(await text(stream));
    session.close();
    expect(answer).toMatchObject({ success: true, data: { status: "ready" } });
  });

  test("an event arrives when it happens, not when its stream ends", async () => {
    const events = await openEvents(`${balancer.url}/v1/agents/open/logs`, organisation.adminKey);
    for (const message of ["first mark", "second mark"]) {
      await organisation
        .call("POST /v1/agents/{agent_id}/logs", { params: { agent_id: "open" }, body: { entries: [{ message }] } })
        .then(ok);
      await expect.poll(events.received, { timeout: 5000 }).toContain(message);
    }
    expect(events.isOpen()).toBe(true);
    events.close();
  });

  test("a client's certificate reaches the agent's check, also a long one", async () => {
    verifies("security.mtls-enforced");
    expect((await send("/v1/agents/for-certificates", { certificate: client })).status).toBe(200);
    expect((await send("/v1/agents/for-certificates", { certificate: longCertificate })).status).toBe(200);
    expectRefusal(await send("/v1/agents/for-certificates"), 401);
  });

  test("a certificate that a client only claims to have does not reach it", async () => {
    const forged = { "client-cert": header(client) };
    expectRefusal(await send("/v1/agents/for-certificates", { headers: forged }), 401);
  });

  test("a certificate of another authority does not get through", async () => {
    // HAProxy ends the connection, and nginx answers with a page of its own.
    await expect(send("/v1/agents/open", { certificate: foreignCertificate })).rejects.toThrow();
  });

  test("the address of a client is its own, whatever it claims", async () => {
    verifies("security.ip-allow-list-enforced");
    const path = "/v1/agents/for-address";
    expect((await send(path, { from: allowedAddress })).status).toBe(200);
    expectRefusal(await send(path, { from: otherAddress }), 403);
    expectRefusal(await send(path, { from: otherAddress, headers: { "x-forwarded-for": allowedAddress } }), 403);
  });

  test("a request counts as HTTPS, whatever the client claims", async () => {
    const headers = { "x-forwarded-proto": "http" };
    expect((await send("/v1/agents/for-https", { headers })).status).toBe(200);
  });

  // The length is only announced. A client that went on sending might lose the connection before the answer.
  test.each([1.1, 3])("a body of %s MiB is refused by its length, with the error of the API", async (mebibytes) => {
    const announced = request(`${balancer.url}/v1/agents`, {
      method: "POST",
      ca: authority.cert,
      headers: {
        authorization: `Bearer ${organisation.adminKey}`,
        "content-type": "application/json",
        "content-length": Math.floor(mebibytes * 1024 * 1024),
      },
    });
    announced.flushHeaders();
    const [response] = (await once(announced, "response")) as [IncomingMessage];
    const { error } = ErrorBody.parse(JSON.parse(await text(response)));
    announced.destroy();
    expect({ status: response.statusCode, code: error.code }).toEqual({ status: 413, code: "payload_too_large" });
  });

  test("waits for an answer for longer than the longest run takes", () => {
    const file = readFileSync(balancerFiles[name], "utf8");
    const limits = [...file.matchAll(/(?:proxy_read_timeout|proxy_timeout|timeout (?:client|server)) (\d+)([sm])/g)];
    expect(limits.length).toBeGreaterThanOrEqual(2);
    for (const [, amount, unit] of limits)
      expect(Number(amount) * (unit === "m" ? 60 : 1)).toBeGreaterThanOrEqual(longestAnswerSeconds);
  });

  test.runIf(waitSeconds > 0)(
    "an answer that takes as long as TEST_BALANCER_WAIT_SECONDS arrives",
    async () => {
      const startedAt = performance.now();
      expect(await invoke("slow")).toMatchObject({ status: 200, body: { data: { response: "late" } } });
      expect(performance.now() - startedAt).toBeGreaterThan(waitSeconds * 1000);
    },
    (waitSeconds + 60) * 1000,
  );

  // The last test, because a stopped process stays stopped.
  test("no request fails when a node is gone, and all get the API's error when both are", async () => {
    killNode(second);
    for (let i = 0; i < 20; i++) expect((await invoke("open")).status).toBe(200);
    killNode(perch);
    await sleep(100);
    const { status, body } = await send("/v1/agents/open");
    expect([502, 503]).toContain(status);
    expect(ErrorBody.parse(body).error.code).toBe("unavailable");
  });
});
