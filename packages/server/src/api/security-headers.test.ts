import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { startApi, testConfig, usePerch } from "../../test/support/harness.ts";
import { createLogger } from "../platform/logger.ts";
import { shutDown } from "../platform/shutdown.ts";

const origin = "https://app.example";
const perch = usePerch();
const open = usePerch({ corsOrigins: [origin, "https://other.example"] });

const expected = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

const allHeaders = async (path: string, init: RequestInit = {}, { url } = perch()) => {
  const response = await fetch(url + path, init);
  await response.text();
  return { status: response.status, headers: Object.fromEntries(response.headers) };
};
const corsHeaders = (headers: Record<string, string>) =>
  Object.keys(headers).filter((name) => name.startsWith("access-control-"));

describe("security headers", () => {
  test("are on a success, which may not be cached", async () => {
    const { adminKey } = await perch().createOrganisation();
    const headers = { authorization: `Bearer ${adminKey}`, "content-type": "application/json" };
    const body = JSON.stringify({ name: "k", role: "viewer" });
    expect(await allHeaders("/v1/keys", { method: "POST", headers, body })).toMatchObject({
      status: 201,
      headers: expected,
    });
    expect(await allHeaders("/healthz")).toMatchObject({ status: 200, headers: expected });
  });

  test.each([
    [401, "/v1/agents"],
    [404, "/v1/nothing"],
    [404, "/agents"],
    [400, "/v1/agents/%zz"],
  ])("are on a %i (%s)", async (status, path) => {
    expect(await allHeaders(path)).toMatchObject({ status, headers: expected });
  });

  test("the server does not reveal its software", async () => {
    const { headers } = await allHeaders("/healthz");
    expect(headers).not.toHaveProperty("server");
    expect(headers).not.toHaveProperty("x-powered-by");
  });
});

describe("CORS", () => {
  test("is off unless origins are configured", async () => {
    const answers = [
      await allHeaders("/v1/agents", { headers: { origin } }),
      await allHeaders("/v1/agents", {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": "GET" },
      }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 404]);
    for (const { headers } of answers) expect(corsHeaders(headers)).toEqual([]);
  });

  test("a listed origin may read every answer, refusals too, and never with cookies", async () => {
    const { adminKey } = await open().createOrganisation();
    for (const [path, authorization, status] of [
      ["/v1/agents", `Bearer ${adminKey}`, 200],
      ["/v1/agents", "", 401],
      ["/v1/nothing", "", 404],
    ] as const) {
      const answer = await allHeaders(path, { headers: { origin, authorization } }, open());
      expect(answer.status).toBe(status);
      expect(answer.headers["access-control-allow-origin"]).toBe(origin);
      expect(answer.headers.vary).toMatch(/\borigin\b/i);
      expect(answer.headers["access-control-expose-headers"]).toContain("x-correlation-id");
      expect(answer.headers).not.toHaveProperty("access-control-allow-credentials");
    }
  });

  test.each(["GET", "POST", "PATCH", "DELETE"])("a listed origin may %s with a key and a JSON body", async (method) => {
    const { status, headers } = await allHeaders(
      "/v1/agents/bot",
      {
        method: "OPTIONS",
        headers: {
          origin,
          "access-control-request-method": method,
          "access-control-request-headers": "authorization,content-type",
        },
      },
      open(),
    );
    expect(status).toBe(204);
    expect(headers["access-control-allow-origin"]).toBe(origin);
    expect(headers["access-control-allow-methods"]?.split(/, ?/)).toContain(method);
    expect(headers["access-control-allow-headers"]).toMatch(/authorization.*content-type/i);
  });

  test.each(["https://evil.example", "http://app.example", "https://app.example.evil.example"])(
    "%s is not listed, and gets no CORS headers",
    async (unlistedOrigin) => {
      for (const method of ["GET", "OPTIONS"]) {
        const headers = { origin: unlistedOrigin, "access-control-request-method": "GET" };
        const answer = await allHeaders("/v1/agents", { method, headers }, open());
        expect(answer.headers).not.toHaveProperty("access-control-allow-origin");
      }
    },
  );
});

describe("a sandboxed page, such as the one at /docs", () => {
  const preflight = { origin: "null", "access-control-request-method": "PATCH" };

  test.each([
    ["with CORS for others", open],
    ["without CORS", perch],
  ])("may call the API with a key and without cookies, %s", async (_, server) => {
    const { adminKey } = await server().createOrganisation();
    const sent = { origin: "null", authorization: `Bearer ${adminKey}` };
    const answer = await allHeaders("/v1/agents", { headers: sent }, server());
    const allowed = await allHeaders("/v1/agents/bot", { method: "OPTIONS", headers: preflight }, server());
    expect([answer.status, allowed.status]).toEqual([200, 204]);
    for (const { headers } of [answer, allowed]) {
      expect(headers["access-control-allow-origin"]).toBe("null");
      expect(headers).not.toHaveProperty("access-control-allow-credentials");
    }
    expect(allowed.headers["access-control-allow-methods"]).toContain("PATCH");
    expect(allowed.headers["access-control-allow-headers"]).toMatch(/authorization/);
    expect(allowed.headers["access-control-allow-headers"]).not.toMatch(/csrf/i);
  });

  test.each(["/", "/console/", "/healthz", "/metrics", "/approve/x", "/connect/x"])("may not read %s", async (path) => {
    for (const method of ["GET", "OPTIONS"]) {
      const { headers } = await allHeaders(path, { method, headers: preflight });
      expect(headers).not.toHaveProperty("access-control-allow-origin");
    }
  });
});

describe("the caller's address", () => {
  /** The log line of a request from 127.0.0.1 whose X-Forwarded-For is 203.0.113.9. */
  async function loggedRequest(trustedProxies: string[]) {
    const lines: Record<string, unknown>[] = [];
    const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const server = await startApi(
      testConfig(perch().database, { trustedProxies, masterKey: perch().server.core.config.masterKey }),
      logger,
    );
    const { hostname, port } = new URL(await server.app.listen({ host: "127.0.0.1", port: 0 }));
    const socket = connect(Number(port), hostname);
    socket.write("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n");
    await text(socket);
    await shutDown(server.shutdownSteps, createLogger("silent"));
    return lines.find(({ msg }) => msg === "request");
  }

  test("is the connection's: X-Forwarded-For is ignored by default", async () => {
    expect(await loggedRequest([])).toMatchObject({ route: "/healthz", ip: "127.0.0.1" });
  });

  test("is taken from X-Forwarded-For of a trusted proxy only", async () => {
    expect(await loggedRequest(["127.0.0.0/8"])).toMatchObject({ ip: "203.0.113.9" });
    expect(await loggedRequest(["10.0.0.0/8"])).toMatchObject({ ip: "127.0.0.1" });
  });
});
