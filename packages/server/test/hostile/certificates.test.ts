import { X509Certificate } from "node:crypto";
import type { AddressInfo } from "node:net";
import { type Certificate, createCertificates } from "@perch/testkit/identity/certificates.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isAcceptedCertificate } from "../../src/auth/certificate-rules.ts";
import { ok } from "../support/contract-client.ts";
import { startHaproxy } from "../support/haproxy.ts";
import { type Organisation, startPerch } from "../support/harness.ts";
import { expectRefusal, sendRawRequest } from "../support/raw-request.ts";

const proxy = "127.0.0.9";
const certificates = createCertificates();
const authority = certificates.createAuthority("authority");
const otherAuthority = certificates.createAuthority("other-authority");
const server = certificates.issue("authority", { name: "server", usage: "serverAuth" });
const client = certificates.issue("authority", { name: "client" });
const expired = certificates.issue("authority", { name: "expired", days: -1 });
const forServers = certificates.issue("authority", { name: "for-servers", usage: "serverAuth" });
const foreignCertificate = certificates.issue("other-authority", { name: "foreign" });
const issuedByClient = certificates.issue("client", { name: "issued-by-client" });
const impostorAuthority = createCertificates();
impostorAuthority.createAuthority("authority");
const sameName = impostorAuthority.issue("authority", { name: "client" });

const header = ({ cert }: Certificate) => `:${new X509Certificate(cert).raw.toString("base64")}:`;
const mtls = (caCert: string) => ({ mtls: { enabled: true, clientCert: "c", clientKey: "k", caCert } });

const hostileCertificates = [
  ["an expired certificate", expired],
  ["a certificate for servers", forServers],
  ["a certificate of another authority", foreignCertificate],
  ["a certificate that a client issued", issuedByClient],
  ["a certificate of an authority that only has the same name", sameName],
] as const;

afterAll(() => {
  certificates.remove();
  impostorAuthority.remove();
});

describe("mutual TLS, terminated by Perch", () => {
  let perch: Awaited<ReturnType<typeof startPerch>>;
  let key: string;
  beforeAll(async () => {
    perch = await startPerch({
      tls: { cert: Buffer.from(server.cert), key: Buffer.from(server.key) },
      security: { mtls: { enabled: true, caCert: authority.certFile } },
    });
    key = (await perch.createOrganisation()).adminKey;
  });
  afterAll(() => perch.stop());

  const requestWithCertificate = (certificate: Certificate | undefined, headers: Record<string, string> = {}) =>
    sendRawRequest(`${perch.url}/v1/agents`, {
      key,
      headers,
      tls: { ca: authority.cert, ...(certificate && { cert: certificate.cert, key: certificate.key }) },
    });

  test("accepts a client with a certificate of the authority", async () => {
    verifies("security.mtls-enforced", "service.https");
    expect((await requestWithCertificate(client)).status).toBe(200);
  });

  test("401 without a certificate", async () => {
    verifies("security.mtls-enforced");
    expectRefusal(await requestWithCertificate(undefined), 401);
  });

  test.each(hostileCertificates)("401 for %s", async (_, certificate) => {
    expectRefusal(await requestWithCertificate(certificate), 401);
  });

  test("401 for a certificate in a header that no trusted proxy set", async () => {
    expectRefusal(await requestWithCertificate(undefined, { "client-cert": header(client) }), 401);
  });
});

describe("mutual TLS, terminated by HAProxy", () => {
  let perch: Awaited<ReturnType<typeof startPerch>>;
  let haproxy: Awaited<ReturnType<typeof startHaproxy>>;
  let organisation: Organisation;
  beforeAll(async () => {
    perch = await startPerch({ trustedProxies: [proxy], security: { certificates: certificates.directory } });
    organisation = await perch.createOrganisation();
    const create = (name: string, caCert: string) =>
      organisation
        .call("POST /v1/agents", {
          query: { force: true },
          body: { name, model: "perch/echo", security: mtls(caCert) },
        })
        .then(ok);
    await create("bot", "authority.crt");
    await create("climbing", `../../../../..${authority.certFile}`);
    await create("absent", "no-such-file.crt");
    await create("no-certificates", "haproxy.cfg");
    const { port } = perch.server.app.server.address() as AddressInfo;
    haproxy = await startHaproxy({ directory: certificates.directory, server, authority, port, from: proxy });
  });
  afterAll(async () => {
    await haproxy.stop();
    await perch.stop();
  });

  const requestThroughProxy = (
    certificate: Certificate | undefined,
    agent = "bot",
    headers: Record<string, string> = {},
  ) =>
    sendRawRequest(`${haproxy.url}/v1/agents/${agent}`, {
      key: organisation.adminKey,
      headers,
      tls: { ca: authority.cert, ...(certificate && { cert: certificate.cert, key: certificate.key }) },
    });
  const requestDirectly = (headers: Record<string, string | string[]>, from: string, agent = "bot") =>
    sendRawRequest(`${perch.url}/v1/agents/${agent}`, { key: organisation.adminKey, headers, from });

  test("accepts the certificate that the proxy forwards, on an agent that requires one", async () => {
    verifies("security.mtls-enforced");
    expect((await requestThroughProxy(client)).status).toBe(200);
    expectRefusal(await requestThroughProxy(undefined), 401);
  });

  test("401 for a client that sends the header itself, through the proxy or around it", async () => {
    expectRefusal(await requestThroughProxy(undefined, "bot", { "client-cert": header(client) }), 401);
    expectRefusal(await requestDirectly({ "client-cert": header(client) }, "127.0.0.2"), 401);
    expect((await requestDirectly({ "client-cert": header(client) }, proxy)).status).toBe(200);
  });

  test.each(hostileCertificates)("401 for %s, even if the proxy forwards it", async (_, certificate) => {
    expectRefusal(await requestDirectly({ "client-cert": header(certificate) }, proxy), 401);
  });

  test.each([
    ["no colons", header(client).slice(1, -1)],
    ["nothing between the colons", "::"],
    ["no base64", ":%%%:"],
    ["bytes that are no certificate", `:${Buffer.from("hello").toString("base64")}:`],
    ["half of a certificate", `${header(client).slice(0, 200)}:`],
    ["a key", `:${Buffer.from(client.key).toString("base64")}:`],
    ["two certificates", `${header(client)}, ${header(foreignCertificate)}`],
    ["PEM, escaped as nginx does", encodeURIComponent(client.cert)],
    ["12,000 characters of nothing", `:${"A".repeat(12_000)}:`],
  ])("401 for a header with %s", async (_, value) => {
    expectRefusal(await requestDirectly({ "client-cert": value }, proxy), 401);
  });

  test("401 for other headers that proxies use", async () => {
    const pem = encodeURIComponent(client.cert);
    for (const name of ["x-ssl-client-cert", "x-forwarded-client-cert", "ssl-client-cert", "x-client-cert"]) {
      expectRefusal(await requestDirectly({ [name]: pem, "ssl-client-verify": "SUCCESS" }, proxy), 401);
    }
  });

  test("an agent's authority file is read only from the operator's directory; without authorities every client is refused", async () => {
    // Only the last segment of the path is used, and that file exists.
    expect((await requestThroughProxy(client, "climbing")).status).toBe(200);
    expectRefusal(await requestThroughProxy(client, "absent"), 401);
    expectRefusal(await requestThroughProxy(client, "no-certificates"), 401);
  });
});

test("a certificate is accepted only within its own validity and its authority's", () => {
  const [shown, by] = [new X509Certificate(client.cert), new X509Certificate(authority.cert)];
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
  expect(isAcceptedCertificate(shown, [by], new Date())).toBe(true);
  expect(isAcceptedCertificate(shown, [by], inDays(-1))).toBe(false);
  expect(isAcceptedCertificate(shown, [by], inDays(31))).toBe(false);
  expect(isAcceptedCertificate(shown, [], new Date())).toBe(false);
  expect(isAcceptedCertificate(shown, [new X509Certificate(otherAuthority.cert)], new Date())).toBe(false);
  expect(isAcceptedCertificate(by, [by], new Date())).toBe(true);
});
