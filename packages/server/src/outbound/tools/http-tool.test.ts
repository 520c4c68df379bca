import { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { type HttpToolAnswer, hang, startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { afterAll, describe, expect, test } from "vitest";
import { noSecrets } from "../../../test/support/no-secrets.ts";
import { createGuardedClient } from "../guarded-client.ts";
import { failedResult, type HttpTarget, type RunTool } from "./tool.ts";
import { TransientToolError } from "./tool-errors.ts";
import { createTools } from "./tools.ts";

const answers = new Map<string, () => HttpToolAnswer | Promise<HttpToolAnswer>>();
const server = await startToolServer(({ path }) => answers.get(path.split("?")[0] ?? "")?.());
const guarded = createGuardedClient({ allowedRanges: ["127.0.0.0/8"] });
afterAll(() => Promise.all([server.close(), guarded.close()]));
const tools = createTools({ ...noSecrets, fetch: guarded.fetch, version: "1.2.3" });

const toolAt = (path: string, method: HttpTarget["method"] = "GET"): RunTool => ({
  definition: { name: "orders", description: "", parameters: { type: "object" } },
  target: { kind: "http", method, url: path.startsWith("http") ? path : `${server.url}${path}` },
});
const context = (signal = AbortSignal.timeout(10_000)) => ({
  ...noSecrets,
  idempotencyKey: "key_1",
  requestId: "inv_1",
  signal,
});
const call = (tool: RunTool, args: unknown = {}) => tools.call(tool, args, context());
const failureOf = (tool: RunTool, signal?: AbortSignal) =>
  tools.call(tool, {}, context(signal)).catch((error: unknown) => error);
/** Answers one path with this, and returns the result for the model. */
async function resultOf(path: string, answer: HttpToolAnswer) {
  answers.set(path, () => answer);
  return call(toolAt(path));
}
const MiB = 1024 * 1024;
async function* half() {
  yield "half";
  await setTimeout(20);
  throw new Error("cut");
}

describe("HTTP tool requests", () => {
  test.each(["GET", "DELETE"] as const)(
    "%s sends arguments in the query: strings unquoted, other values as JSON",
    async (method) => {
      await call(toolAt("/search?fixed=1", method), { q: "a b&c", page: 2, tags: ["x"], none: null, fixed: "2" });
      const seen = server.calls.at(-1);
      expect(seen).toMatchObject({ method, body: "" });
      expect([...new URL(seen?.path ?? "", server.url).searchParams]).toEqual([
        ["fixed", "1"],
        ["q", "a b&c"],
        ["page", "2"],
        ["tags", '["x"]'],
        ["none", "null"],
      ]);
    },
  );

  test.each(["POST", "PUT", "PATCH"] as const)("%s sends arguments as a JSON body", async (method) => {
    expect(await call(toolAt("/orders", method), { a: { b: 1 } })).toEqual({ content: '{"ok":true}', failed: false });
    expect(server.calls.at(-1)).toMatchObject({ method, path: "/orders", body: '{"a":{"b":1}}' });
    expect(server.calls.at(-1)?.headers).toMatchObject({ "content-type": "application/json" });
  });

  test("headers identify the call, the run and the client", async () => {
    await call(toolAt("/orders"));
    expect(server.calls.at(-1)?.headers).toMatchObject({
      "idempotency-key": "key_1",
      "x-request-id": "inv_1",
      "user-agent": "perch/1.2.3",
      accept: "application/json, text/*;q=0.9",
    });
  });

  test("arguments in the path are encoded, and not sent again in the query", async () => {
    await call(toolAt("/orders/{id}/lines/{line.no}"), { id: "a/b?c#d é", "line.no": 7, full: true });
    expect(server.calls.at(-1)?.path).toBe("/orders/a%2Fb%3Fc%23d%20%C3%A9/lines/7?full=true");
  });

  test.each([
    { id: ".." },
    { id: "." },
    { id: "%2e%2e" },
    { id: "../../admin" },
    { id: "a\\..\\b" },
    { id: ".\0." },
    { id: "\0" },
    { id: "" },
    { id: null },
    { id: { a: 1 } },
    {},
    "id",
    ["id"],
    null,
  ])("the arguments %j send no request, and the model gets the reason", async (args) => {
    const before = server.calls.length;
    const result = await call(toolAt("/orders/{id}", "DELETE"), args);
    expect(result.failed).toBe(true);
    expect(result.content).toMatch(/argument/);
    expect(server.calls.length).toBe(before);
  });

  test('two values cannot combine to "..", and inherited properties are not arguments', async () => {
    const before = server.calls.length;
    expect(await call(toolAt("/orders/{a}{b}/x"), { a: ".", b: "." })).toMatchObject({ failed: true });
    expect(await call(toolAt("/orders/%2e{a}/x"), { a: "." })).toMatchObject({ failed: true });
    expect(await call(toolAt("/orders/{constructor}"))).toMatchObject({ failed: true });
    expect(server.calls.length).toBe(before);
  });
});

describe("HTTP tool responses", () => {
  test("4xx is returned to the model, with the beginning of the body", async () => {
    const body = `id is wrong ${"x".repeat(MiB)}`;
    const { content, failed, reason } = await resultOf("/bad", { status: 422, body });
    expect([failed, reason]).toEqual([true, "The tool orders answered 422."]);
    expect(content).toMatch(/^The tool orders answered 422: id is wrong xxx/);
    expect(content.length).toBeLessThan(5000);
    expect(await resultOf("/gone", { status: 404, body: "" })).toEqual(failedResult("The tool orders answered 404."));
  });

  test("401 and 403 say which login to check", async () => {
    for (const status of [401, 403]) {
      const advice = "It refuses the login: check `headers` of the tool orders.";
      expect(await resultOf("/locked", { status, body: "who?" })).toEqual(
        failedResult(
          `The tool orders answered ${status}: who? ${advice}`,
          `The tool orders answered ${status}. ${advice}`,
        ),
      );
    }
  });

  test("a redirect is not followed", async () => {
    const before = server.calls.length;
    const result = await resultOf("/moved", { status: 302, headers: { location: `${server.url}/secret` } });
    expect(result).toEqual(failedResult("The tool orders answers with a redirect, which is not followed."));
    expect(server.calls.length).toBe(before + 1);
  });

  test.each([408, 425, 429, 500, 503])("%i is transient, and Retry-After is passed on", async (status) => {
    answers.set("/busy", () => ({ status, headers: { "retry-after": "7" } }));
    const failure = await failureOf(toolAt("/busy"));
    expect(failure).toBeInstanceOf(TransientToolError);
    expect(failure).toMatchObject({ message: `The tool orders answered ${status}.`, retryAfterMs: 7000 });
  });

  test("a refused connection, a timeout and a truncated body are transient", async () => {
    answers.set("/hang", hang);
    answers.set("/cut", () => ({ body: Readable.from(half()) }));
    const closedServer = await startToolServer();
    await closedServer.close();
    expect(await failureOf(toolAt(closedServer.url))).toEqual(
      new TransientToolError("The tool orders could not be reached: it refuses connections (ECONNREFUSED).", {
        isUnreachable: true,
        advice: "Start it, or correct `url` of the tool orders.",
      }),
    );
    expect(await failureOf(toolAt("/hang"), AbortSignal.timeout(50))).toEqual(
      new TransientToolError("The tool orders took too long to answer."),
    );
    expect(await failureOf(toolAt("/cut"))).toBeInstanceOf(TransientToolError);
  });

  test("a caller that cancels gets its own abort reason", async () => {
    answers.set("/hang", hang);
    const controller = new AbortController();
    const failure = failureOf(toolAt("/hang"), controller.signal);
    await setTimeout(20);
    controller.abort(new Error("cancelled"));
    expect(await failure).toEqual(new Error("cancelled"));
  });

  test("a refused address is reported to the model, and never called", async () => {
    const strict = createGuardedClient({ allowedRanges: [] });
    const before = server.calls.length;
    const result = await createTools({ ...noSecrets, fetch: strict.fetch, version: "1" }).call(
      toolAt("/orders"),
      {},
      context(),
    );
    expect(result.failed).toBe(true);
    expect(result.content).toMatch(/127\.0\.0\.1/);
    expect(server.calls.length).toBe(before);
    await strict.close();
  });
});

describe("HTTP tool response text", () => {
  test("is truncated to 64 KiB between two characters, and states the full size", async () => {
    const { content } = await resultOf("/long", { body: `a${"é".repeat(50_000)}` });
    const [body = "", note] = content.split("\n");
    expect(Buffer.byteLength(body)).toBe(64 * 1024 - 1);
    expect(body.endsWith("é")).toBe(true);
    expect(note).toBe("[cut: 64 KiB of 97.7 KiB]");
  });

  test("is read up to 1 MiB, then the response is cancelled", async () => {
    let sent = 0;
    const endless = new Readable({
      read() {
        sent += 64 * 1024;
        this.push("x".repeat(64 * 1024));
      },
    });
    const stopped = new Promise((resolve) => endless.once("close", resolve));
    const { content } = await resultOf("/endless", { headers: { "content-type": "text/plain" }, body: endless });
    expect(content.slice(64 * 1024)).toBe("\n[cut: 64 KiB of more than 1 MiB]");
    await stopped;
    expect(sent).toBeLessThan(16 * MiB);
    const size = Math.round(5.2 * MiB);
    const known = await resultOf("/known", {
      headers: { "content-length": `${size}` },
      body: Buffer.alloc(size, "x"),
    });
    expect(known.content.slice(64 * 1024)).toBe("\n[cut: 64 KiB of 5.2 MiB]");
  });

  test.each([
    ["image/png", "[3 bytes of image/png]"],
    ["application/octet-stream", "[3 bytes of application/octet-stream]"],
    ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", expect.stringMatching(/^\[3 bytes of/)],
    ["text/csv", "a,b"],
    ["application/problem+json; charset=utf-8", "a,b"],
    ["image/svg+xml", "a,b"],
    ["application/x-www-form-urlencoded", "a,b"],
  ])("%s is passed on as text, or described by its size", async (type, content) => {
    expect(await resultOf("/typed", { headers: { "content-type": type }, body: "a,b" })).toEqual({
      content,
      failed: false,
    });
  });

  test("contains no character that Postgres rejects, and is decoded by its charset", async () => {
    expect((await resultOf("/odd", { body: Buffer.from([0x61, 0x00, 0xff, 0x62]) })).content).toBe("a\uFFFDb");
    const headers = { "content-type": 'text/plain; charset="ISO-8859-1"' };
    expect((await resultOf("/latin", { headers, body: Buffer.from([0xe9]) })).content).toBe("é");
    expect((await resultOf("/empty", { status: 204, body: "" })).content).toBe("");
  });
});
