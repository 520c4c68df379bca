import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createCertificates } from "@perch/testkit/identity/certificates.ts";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import {
  closeAll,
  createTestClient,
  loopback,
  rejectionReason,
  replyHello,
  resolveTo,
  startTestServer,
} from "../../test/support/guarded-client-servers.ts";
import { findConnectFailure } from "./connect-failures.ts";
import type { GuardOptions } from "./guarded-client.ts";

afterEach(closeAll);

const failureAt = async (url: string, options: Partial<GuardOptions> = {}) => {
  const client = createTestClient({ allowedRanges: loopback, ...options });
  return findConnectFailure(await rejectionReason(client.fetch(url)));
};

describe("a connection that does not come about", () => {
  test("because it is refused is worth a retry", async () => {
    const { port, server } = await startTestServer(replyHello);
    await new Promise((resolve) => server.close(resolve));
    const failure = await failureAt(`http://127.0.0.1:${port}/`);
    expect(failure).toMatchObject({ reason: "it refuses connections (ECONNREFUSED)", isTransient: true });
    expect(failure?.adviceAbout("`url`")).toBe("Start it, or correct `url`.");
  });

  test.each([
    ["does not exist", () => Promise.reject(Object.assign(new Error("no"), { code: "ENOTFOUND" }))],
    ["has no address", resolveTo()],
  ])("because its name %s is worth a retry", async (_, resolve) => {
    const failure = await failureAt("http://missing.example/", { resolve });
    expect(failure).toMatchObject({ reason: "its host name was not found (ENOTFOUND)", isTransient: true });
  });

  test("because the look-up of its name hangs fails after seconds, not minutes", async () => {
    const startedAt = performance.now();
    const failure = await failureAt("http://slow.example/", { resolve: () => new Promise(() => {}) });
    expect(failure).toMatchObject({
      reason: "it did not accept a connection in time (UND_ERR_CONNECT_TIMEOUT)",
      isTransient: true,
    });
    expect(performance.now() - startedAt).toBeLessThan(8000);
  });

  test("because it speaks no TLS is permanent", async () => {
    const { port } = await startTestServer(replyHello);
    const failure = await failureAt(`https://127.0.0.1:${port}/`);
    expect(failure).toMatchObject({
      reason: expect.stringMatching(/^it does not speak TLS \(ERR_SSL_/) as string,
      isTransient: false,
    });
  });

  test("because its certificate is not trusted is permanent", async () => {
    const certificates = createCertificates();
    onTestFinished(() => certificates.remove());
    const { cert, key } = certificates.createAuthority("nobody");
    const server = createServer({ cert, key }, replyHello).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close().closeAllConnections());
    await new Promise((resolve) => server.once("listening", resolve));
    const failure = await failureAt(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    expect(failure).toMatchObject({
      reason: expect.stringMatching(/^its certificate is not trusted \(/) as string,
      isTransient: false,
    });
  });
});

describe("errors that are not failures to connect", () => {
  test("a connection that was open and broke", async () => {
    const { url } = await startTestServer((_, reply) => reply.destroy());
    expect(await failureAt(url)).toBeUndefined();
    expect(
      findConnectFailure(Object.assign(new Error("read"), { code: "ETIMEDOUT", syscall: "read" })),
    ).toBeUndefined();
  });

  test("anything that is thrown without a code", () => {
    for (const thrown of [new Error("no"), undefined, "no", { code: "ECONNREFUSED" }])
      expect(findConnectFailure(thrown)).toBeUndefined();
  });
});
