import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { ErrorBody, errorStatus, operationKeys, operations, routeOf } from "@perch/contract";
import { verifies } from "@perch/testkit/verifies.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { buildRequest } from "../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../test/support/harness.ts";

const perch = usePerch();
let organisation: Organisation;
beforeAll(async () => {
  organisation = await perch().createOrganisation();
});

/** Sends as the admin by default. Checks that a refusal has our JSON body and the status of its code. */
async function send(path: string, { headers, ...init }: RequestInit & { headers?: Record<string, string> } = {}) {
  const authorization = `Bearer ${organisation.adminKey}`;
  const response = await fetch(perch().url + path, {
    redirect: "manual",
    ...init,
    headers: { authorization, ...headers },
  });
  const text = await response.text();
  if (response.ok || init.method === "HEAD") return { status: response.status, headers: response.headers, text };
  expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  const body = ErrorBody.strict().parse(JSON.parse(text));
  expect(response.status).toBe(errorStatus[body.error.code]);
  return { status: response.status, headers: response.headers, text, error: body.error };
}

const json = { "content-type": "application/json" };
const post = (body: string, headers: Record<string, string> = json) =>
  send("/v1/agents", { method: "POST", body, headers });

describe("a body that cannot be used", () => {
  test.each(["{", "}", "nonsense", '{"name":', "{'name':1}", "\u0000", '{"name":"a"} {}'])(
    "400 for %j, which is not JSON",
    async (body) => {
      verifies("service.json-bodies", "errors.body.shape", "errors.code.invalid-request");
      const { status, text } = await post(body);
      expect(status).toBe(400);
      expect(JSON.parse(text)).toEqual({
        success: false,
        error: { code: "invalid_request", message: expect.stringMatching(/./) },
      });
    },
  );

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/json",
    "what",
  ])("400 for the content type %s, and the message says which to send", async (type) => {
    verifies("service.json-bodies");
    const { error } = await post('{"name":"bot","model":"perch/echo"}', { "content-type": type });
    expect(error).toMatchObject({ code: "invalid_request", message: expect.stringContaining("application/json") });
  });

  test.each(["[]", "[1]", '"text"', "7", "true", "null"])(
    "400 for %s, which is not an object, and the error names `body`",
    async (body) => {
      const { error } = await post(body);
      expect(error).toMatchObject({ code: "invalid_request", details: [{ field: "body" }] });
    },
  );

  const tool = { type: "http", name: "t", description: "", method: "GET", url: "https://a.example" };
  const toolWith = (parameters: string) =>
    `"tools":[${JSON.stringify(tool).slice(0, -1)},"parameters":{"type":"object",${parameters}}}]`;

  test.each([
    '{"__proto__":{"polluted":true},"name":"bot","model":"perch/echo"}',
    '{"name":"bot","model":"perch/echo","limits":{"__proto__":{"polluted":true}}}',
    '{"constructor":{"prototype":{"polluted":true}},"name":"bot","model":"perch/echo"}',
    `{"name":"bot","model":"perch/echo",${toolWith('"__proto__":{"polluted":true}')}}`,
  ])("400 for %s, and no prototype changes", async (body) => {
    expect(await post(body)).toMatchObject({ status: 400, error: { code: "invalid_request" } });
    expect({}).not.toHaveProperty("polluted");
  });

  const nested = `${"[".repeat(10_000)}${"]".repeat(10_000)}`;
  test.each([
    ["a NUL", "instructions", '"instructions":"a\\u0000b"'],
    ["half a surrogate pair", "instructions", '"instructions":"a\\ud800b"'],
    ["a NUL in a free-form object", "tools.0.parameters.x", toolWith('"x":"\\u0000"')],
    ["nesting without end", "tools.0.parameters.x", toolWith(`"x":${nested}`)],
  ])("400 for %s, which the database cannot hold", async (_, field, part) => {
    const { status, error } = await post(`{"name":"bot","model":"perch/echo",${part}}`);
    expect(status).toBe(400);
    expect(error?.details?.[0]?.field).toContain(field);
  });

  test.each([
    ["wrong items", "/v1/keys", `{"name":"k","permissions":[${Array(18_000).fill('"x"').join()}]}`],
    ["unknown fields", "/v1/agents", `{${Array.from({ length: 18_000 }, (_, i) => `"${i}":1`).join()}}`],
    ["NULs", "/v1/agents", `{"name":"b","model":"a/b",${toolWith(`"x":[${Array(18_000).fill('"\\u0000"').join()}]`)}}`],
  ])("400 for a body full of %s, and the answer stays small", async (_, path, body) => {
    const { status, error, text } = await send(path, { method: "POST", body, headers: json });
    expect(status).toBe(400);
    expect(error?.details?.length).toBeGreaterThan(0);
    expect(text.length).toBeLessThan(10_000);
  });

  test("413 for more than 20,000 values, in whatever lists and objects", async () => {
    const { status, error } = await send("/v1/agents", {
      method: "POST",
      body: `[${Array(20_000).fill("0").join()}]`,
      headers: json,
    });
    expect([status, error?.code]).toEqual([413, "payload_too_large"]);
    expect(error?.message).toContain("more than 20000 values");
  });

  test("413 for more than 1 MiB, whether announced or streamed; 1 MiB is read", async () => {
    verifies("limits.body-size", "errors.code.others");
    const sized = (bytes: number) => `{"name":"${"x".repeat(bytes - 11)}"}`;
    expect((await post(sized(1024 * 1024))).error?.code).toBe("invalid_request");
    expect(await post(sized(1024 * 1024 + 1))).toMatchObject({ status: 413, error: { code: "payload_too_large" } });
    const body = new Blob([sized(1024 * 1024 + 1)]).stream();
    const streamed = await send("/v1/agents", { method: "POST", body, headers: json, duplex: "half" } as RequestInit & {
      headers: Record<string, string>;
    });
    expect(streamed).toMatchObject({ status: 413, error: { message: expect.stringContaining("1 MiB") } });
  });

  test.each(["gzip", "deflate, br", "GZIP"])(
    "400 for a body in %s: it names the header and says what to send, and nothing of it is read",
    async (encoding) => {
      verifies("service.json-bodies");
      const body = gzipSync('{"name":"packed","model":"perch/echo"}');
      const { error } = await send("/v1/agents", {
        method: "POST",
        body,
        headers: { ...json, "content-encoding": encoding },
      });
      expect(error).toMatchObject({
        code: "invalid_request",
        message: expect.stringContaining("plain JSON"),
        details: [{ field: "Content-Encoding", error: expect.stringContaining("identity") }],
      });
    },
  );

  test("Content-Encoding: identity does not count as an encoding", async () => {
    const headers = { ...json, "content-encoding": "identity" };
    expect((await post('{"name":"plain","model":"perch/echo"}', headers)).status).toBe(201);
  });

  test("an empty body with the JSON header counts as no body", async () => {
    const { call } = organisation;
    await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } });
    const bare = { headers: { ...json, "content-length": "0" } };
    expect((await send("/v1/agents/bot/pause", { ...bare, method: "POST" })).status).toBe(200);
    expect((await send("/v1/agents/bot", { ...bare, method: "DELETE" })).status).toBe(200);
    expect((await send("/v1/agents", bare)).status).toBe(200);
    expect((await send("/v1/agents", { ...bare, method: "POST" })).error?.message).toBe(
      "Missing required parameter: name",
    );
  });

  test("application/json with a charset is JSON, and so is every answer", async () => {
    verifies("service.json-bodies");
    const type = { "content-type": "application/json; charset=utf-8" };
    const created = await post('{"name":"utf","model":"perch/echo","instructions":"žluťoučký 馬"}', type);
    expect(created.status).toBe(201);
    expect(created.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(JSON.parse(created.text).data.instructions).toBe("žluťoučký 馬");
  });
});

describe("an unknown route", () => {
  test("404 names the route and where to look", async () => {
    const { status, error } = await send("/v1/nothing?key=secret");
    expect(status).toBe(404);
    expect(error?.message).toMatch(/There is no GET \/v1\/nothing\. .*\/docs/);
  });

  test("every operation is under /v1, and without it is 404 with a hint and no redirect", async () => {
    verifies("versioning.path-prefix", "versioning.no-prefix-404");
    expect(operationKeys.length).toBeGreaterThan(10);
    for (const key of operationKeys) {
      const { method, path } = routeOf(key);
      expect(path).toMatch(/^\/v1\//);
      // Pages of the console are there.
      if (method === "GET" && path.startsWith("/v1/console/")) continue;
      const { status, error, headers } = await send(path.replace("/v1", ""), { method });
      expect(status).toBe(404);
      expect(error?.message).toContain("starts with /v1");
      expect(headers.get("location")).toBeNull();
    }
  });

  test.each(["/v2/agents", "/V1/agents", "/v1", "/v1agents", "//v1/agents"])("404 for %s", async (path) => {
    expect(await send(path)).toMatchObject({ status: 404, error: { code: "not_found" } });
  });

  test("404 for a method that the path does not have, including OPTIONS", async () => {
    for (const method of ["PUT", "PATCH", "DELETE", "OPTIONS"]) {
      const { status, error } = await send("/v1/agents", { method });
      expect(status).toBe(404);
      expect(error?.message).toContain(`There is no ${method} /v1/agents.`);
    }
  });

  test("HEAD is GET without the body, refusals too", async () => {
    const head = await send("/v1/agents", { method: "HEAD" });
    expect(head).toMatchObject({ status: 200, text: "" });
    const unauthenticated = await send("/v1/agents", { method: "HEAD", headers: { authorization: "" } });
    expect(unauthenticated).toMatchObject({ status: 401, text: "" });
  });

  test.each(["/v1/agents/%zz", "/v1/agents/%", "/v1/agents/%ff", "/v1/keys/%c3%28"])(
    "400 for %s, whose escapes are malformed",
    async (path) => {
      expect(await send(path)).toMatchObject({ status: 400, error: { code: "invalid_request" } });
    },
  );

  test.each(["/v1/providers/a%00b", "/v1/agents/%00", "/v1/keys/%00"])(
    "400 for %s, which holds a NUL",
    async (path) => {
      const method = path.startsWith("/v1/keys") ? "DELETE" : "GET";
      expect(await send(path, { method })).toMatchObject({ status: 400, error: { code: "invalid_request" } });
    },
  );

  test("a segment longer than any id or name is the caller's fault, not ours", async () => {
    const { status } = await send(`/v1/agents/${"a".repeat(300)}`);
    expect([400, 404]).toContain(status);
  });
});

describe("an unauthenticated request", () => {
  test.each(operationKeys.filter((key) => operations[key].permission !== "public"))(
    "is 401 at %s, with a challenge, before the body is read",
    async (key) => {
      verifies("auth.bearer-header", "auth.missing-key-401", "errors.code.unauthorized", "errors.body.shape");
      const { path, init } = buildRequest(key, {});
      const body = init.method === "GET" ? {} : { body: "{ not json" };
      const { status, error, headers } = await send(path, {
        method: String(init.method),
        ...body,
        headers: { authorization: "", ...json },
      });
      expect(status).toBe(401);
      expect(error?.code).toBe("unauthorized");
      expect(headers.get("www-authenticate")).toMatch(/^Bearer/);
    },
  );

  test("no other refusal carries a challenge", async () => {
    for (const path of ["/v1/nothing", "/v1/agents?colour=red"]) {
      expect((await send(path)).headers.get("www-authenticate")).toBeNull();
    }
  });
});

describe("invalid HTTP", () => {
  test.each([
    ["garbage", "garbage\r\n\r\n"],
    ["a TLS handshake", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003"],
    ["an unknown method", "BREW /v1/agents HTTP/1.1\r\nHost: perch\r\n\r\n"],
    ["a malformed header", "GET /v1/agents HTTP/1.1\r\nHost: perch\r\nBad Header: x\r\n\r\n"],
    ["no host", "GET /v1/agents HTTP/1.1\r\nConnection: close\r\n\r\n"],
    ["headers without end", `GET /v1/agents HTTP/1.1\r\nHost: perch\r\nX-Big: ${"x".repeat(20_000)}\r\n\r\n`],
    ["two lengths", "POST /v1/agents HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"],
  ])("%s gets our 400, as JSON, and the connection closes", async (_, sent) => {
    verifies("errors.body.shape");
    const { hostname, port } = new URL(perch().url);
    const socket = connect(Number(port), hostname);
    socket.write(sent, "latin1");
    const [head = "", body = ""] = (await text(socket)).split("\r\n\r\n");
    expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(head.toLowerCase()).toContain("content-type: application/json; charset=utf-8");
    expect(head).toMatch(/x-correlation-id: corr_/);
    expect(ErrorBody.parse(JSON.parse(body)).error.code).toBe("invalid_request");
  });

  test("an unknown `Expect` is ignored, as HTTP allows", async () => {
    const { hostname, port } = new URL(perch().url);
    const socket = connect(Number(port), hostname);
    socket.write("GET /v1/agents HTTP/1.1\r\nHost: perch\r\nExpect: the-moon\r\nConnection: close\r\n\r\n");
    const [head = "", body = ""] = (await text(socket)).split("\r\n\r\n");
    expect(head).toMatch(/^HTTP\/1\.1 401 /);
    expect(ErrorBody.parse(JSON.parse(body)).error.code).toBe("unauthorized");
  });
});
