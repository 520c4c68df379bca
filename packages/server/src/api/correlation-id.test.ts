import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { usePerch } from "../../test/support/harness.ts";

const perch = usePerch();
const ours = /^corr_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

const idOf = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(perch().url + path, init);
  await response.text();
  return response.headers.get("x-correlation-id");
};

/** Headers as written, which fetch would refuse to send. */
async function raw(...lines: string[]): Promise<string> {
  const { hostname, port } = new URL(perch().url);
  const socket = connect(Number(port), hostname);
  socket.write(`${[...lines, "Host: perch", "Connection: close"].join("\r\n")}\r\n\r\n`);
  return text(socket);
}
const idIn = (answer: string) => answer.match(/^x-correlation-id: (.*?)\r$/im)?.[1];

describe("X-Correlation-Id", () => {
  test.each(["a", "7f3c-11", "trace:01.span_2", "01890a5d-ac96-774b-bcce-b302099a8057", "x".repeat(128)])(
    "the caller's own id %s is returned",
    async (id) => {
      expect(await idOf("/v1/me", { headers: { "x-correlation-id": id } })).toBe(id);
      expect(await idOf("/healthz", { headers: { "x-correlation-id": id } })).toBe(id);
    },
  );

  test.each(["", "x".repeat(129), "two words", "a,b", 'a"b', "<script>", "a\tb", "caf\u00e9", "a;b", "../../etc"])(
    "%j is unsafe to log, and is replaced by a generated id",
    async (id) => {
      expect(await idOf("/v1/me", { headers: { "x-correlation-id": id } })).toMatch(ours);
    },
  );

  test("X-Request-Id is neither read nor sent: a request id is a run's", async () => {
    verifies("errors.correlation-id");
    const { headers } = await fetch(`${perch().url}/v1/me`, { headers: { "x-request-id": "mine-0" } });
    expect(headers.get("x-correlation-id")).toMatch(ours);
    expect(headers.has("x-request-id")).toBe(false);
  });

  test("two headers count as none", async () => {
    const answer = await raw("GET /v1/me HTTP/1.1", "X-Correlation-Id: one", "X-Correlation-Id: two");
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    expect(idIn(answer)).toMatch(ours);
  });

  test("is generated for each request without one", async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => idOf("/healthz")));
    expect(new Set(ids).size).toBe(20);
    for (const id of ids) expect(id).toMatch(ours);
  });

  test.each([
    ["a success", "/healthz", {}],
    ["a missing key", "/v1/agents", {}],
    ["an unknown path", "/v1/nothing", {}],
    ["a path without a version", "/agents", {}],
    ["an unknown method", "/v1/agents", { method: "PUT" }],
    ["HEAD", "/v1/agents", { method: "HEAD" }],
    ["OPTIONS", "/v1/agents", { method: "OPTIONS" }],
    ["a malformed escape", "/v1/agents/%zz", {}],
    ["a segment too long", `/v1/agents/${"a".repeat(300)}`, {}],
    ["the documentation", "/docs/", {}],
  ] as const)("is on the answer to %s", async (_, path, init) => {
    expect(await idOf(path, init)).toMatch(ours);
    expect(await idOf(path, { ...init, headers: { "x-correlation-id": "mine-1" } })).toBe("mine-1");
  });

  test("is on the answer to a body that cannot be read", async () => {
    const { adminKey } = await perch().createOrganisation();
    const headers = {
      authorization: `Bearer ${adminKey}`,
      "content-type": "application/json",
      "x-correlation-id": "mine-2",
    };
    expect(await idOf("/v1/agents", { method: "POST", headers, body: "{" })).toBe("mine-2");
    expect(await idOf("/v1/agents", { method: "POST", headers, body: `"${"x".repeat(1024 * 1024)}"` })).toBe("mine-2");
  });
});
