import { Readable } from "node:stream";
import { type McpServerOptions, startMcpServer, textResult } from "@perch/testkit/servers/mcp-server.ts";
import { hang, startToolServer, type TestServer } from "@perch/testkit/servers/tool-server.ts";
import { afterAll, describe, expect, test } from "vitest";
import { noSecrets } from "../../../test/support/no-secrets.ts";
import { createGuardedClient } from "../guarded-client.ts";
import { failedResult, type RunTool } from "./tool.ts";
import { TransientToolError } from "./tool-errors.ts";
import { createTools } from "./tools.ts";

const guarded = createGuardedClient({ allowedRanges: ["127.0.0.0/8"] });
const tools = createTools({ ...noSecrets, fetch: guarded.fetch, version: "1.2.3" });
const opened: TestServer[] = [];
afterAll(() => Promise.all([guarded.close(), ...opened.map((server) => server.close())]));

async function startServer(options: McpServerOptions = {}) {
  const server = await startMcpServer(options);
  opened.push(server);
  return server;
}
/** A server that needs no handshake (2026-07-28), with these results by method. */
async function startStateless(results: () => Readonly<Record<string, object>>) {
  const cached = { ttlMs: 0, cacheScope: "public" };
  const discover = { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };
  const server = await startToolServer(({ body }) => {
    const { id, method } = JSON.parse(body) as { id: number; method: string };
    const all: Readonly<Record<string, object>> = { "server/discover": discover, ...results() };
    const extra = method === "tools/call" ? {} : cached;
    return { body: { jsonrpc: "2.0", id, result: { resultType: "complete", ...extra, ...all[method] } } };
  });
  opened.push(server);
  return server;
}
const testTimeout = () => AbortSignal.timeout(10_000);
const list = (servers: Readonly<Record<string, string>>, signal = testTimeout()) =>
  tools.list(
    Object.entries(servers).map(([name, url]) => ({ type: "mcp", name, url }) as const),
    noSecrets.owner,
    signal,
  );
const lookup = (url: string, tool = "lookup_order"): RunTool => ({
  definition: { name: `shop_${tool}`, description: "", parameters: { type: "object" } },
  target: { kind: "mcp", url, tool },
});
const call = (tool: RunTool, args: unknown = { id: "o1" }, signal = testTimeout()) =>
  tools.call(tool, args, { ...noSecrets, idempotencyKey: "key_1", requestId: "inv_1", signal });
const catchError = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);

describe("listing the tools of an MCP server that does not end", () => {
  const startEndless = (page: object) =>
    startStateless(() => ({ "tools/list": { nextCursor: String(Math.random()), ...page } }));
  const pagesOf = ({ calls }: Awaited<ReturnType<typeof startToolServer>>) =>
    calls.filter(({ body }) => body.includes("tools/list")).length;

  test("ends with the first page that brings no new tool", async () => {
    const server = await startEndless({ tools: [{ name: "lookup", inputSchema: { type: "object" } }] });
    expect(await list({ shop: server.url })).toHaveLength(1);
    expect(pagesOf(server)).toBe(2);
  });

  test("is refused beyond 1 MiB of all pages, whatever is in them", async () => {
    const server = await startEndless({ tools: [], junk: "x".repeat(1024 * 1024) });
    expect(await catchError(list({ shop: server.url }))).toMatchObject({
      message: expect.stringContaining("listed its tools in more than 1 MiB"),
    });
    expect(pagesOf(server)).toBe(1);
  });
});

describe("an MCP server with a tool that needs approval", () => {
  const tool_approvals = { delete_file: { approvers: 2, second_factor: true }, search: "never" } as const;
  const approvalsOf = async (...names: string[]) => {
    const listed = names.map((name) => ({ name, inputSchema: { type: "object" } }));
    const { url } = await startStateless(() => ({ "tools/list": { tools: listed } }));
    const server = { type: "mcp", name: "files", url, tool_approvals } as const;
    const found = await tools.list([server], noSecrets.owner, testTimeout());
    return Object.fromEntries(found.map(({ definition, approval }) => [definition.name, approval?.approvers ?? 0]));
  };

  test("that renames it cannot make it free: tools without a policy of their own are as protected as it was", async () => {
    expect(await approvalsOf("delete_file", "read_file", "search")).toEqual({
      files_delete_file: 2,
      files_read_file: 0,
      files_search: 0,
    });
    expect(await approvalsOf("remove_file", "read_file", "search")).toEqual({
      files_remove_file: 2,
      files_read_file: 2,
      files_search: 0,
    });
  });

  test("cannot weaken the server's own policy by that, nor a setting outside the version", async () => {
    const mayDecide = { invoker_may_decide: true } as const;
    const { url } = await startStateless(() => ({
      "tools/list": { tools: [{ name: "remove_file", inputSchema: { type: "object" } }] },
    }));
    const approvalWith = async (policy: "always" | undefined, floored: readonly string[]) => {
      const server = {
        ...{ type: "mcp" as const, name: "files", url, tool_approvals: { delete_file: mayDecide } },
        ...(policy && { approval: policy }),
      };
      const floor = { tools: floored, hosts: [], secrets: [] };
      const run = { requestId: "req_1", trace: undefined, floor };
      const [found] = await tools.list([server], noSecrets.owner, testTimeout(), run);
      return found?.approval;
    };
    expect(await approvalWith(undefined, [])).toMatchObject({ invokerMayDecide: true });
    expect(await approvalWith("always", [])).toMatchObject({ invokerMayDecide: false });
    for (const name of ["files", "remove_file", "files_remove_file"])
      expect(await approvalWith(undefined, [name])).toMatchObject({
        invokerMayDecide: false,
        because: expect.stringContaining("security settings"),
      });
  });

  test("may drop a tool that needs none", async () => {
    expect(await approvalsOf("delete_file", "read_file")).toEqual({ files_delete_file: 2, files_read_file: 0 });
  });
});

describe("calling an MCP tool", () => {
  test.each([
    { sessions: false, json: false },
    { sessions: true, json: false },
    { sessions: true, json: true },
  ])("calls the tool once, identifies the call on every request, and ends its session: %j", async (options) => {
    const server = await startServer(options);
    const result = await call(lookup(server.url), { id: "o1", note: "é" });
    expect(result).toEqual({ content: '{"id":"o1","status":"shipped"}', failed: false });
    expect(server.calls).toMatchObject([{ tool: "lookup_order", arguments: { id: "o1", note: "é" } }]);
    const seen = server.requests.map(({ method, rpc }) => rpc ?? method);
    const handshake = ["initialize", "notifications/initialized", "tools/call"];
    expect(seen).toEqual(options.sessions ? [...handshake, "DELETE"] : handshake);
    for (const { headers } of server.requests)
      expect(headers).toMatchObject({
        "idempotency-key": "key_1",
        "x-request-id": "inv_1",
        "user-agent": "perch/1.2.3",
        "mcp-protocol-version": expect.any(String),
      });
    const sessions = server.requests.slice(1).map(({ headers }) => headers["mcp-session-id"]);
    expect(new Set(sessions)).toEqual(new Set([options.sessions ? expect.any(String) : undefined]));
  });

  test("a stateless server (2026-07-28) is called without a handshake, with the headers it asks for", async () => {
    const parameters = { type: "object", properties: { id: { type: "string", "x-mcp-header": "Order" } } };
    const server = await startStateless(() => ({
      "tools/list": { tools: [{ name: "lookup", inputSchema: parameters }] },
      "tools/call": { content: [{ type: "text", text: "found" }] },
    }));
    const [tool] = await list({ shop: server.url });
    if (!tool) throw new Error("no tool was listed");
    expect(tool.target).toMatchObject({ stateless: true });
    server.calls.length = 0;
    expect(await call(tool)).toEqual({ content: "found", failed: false });
    expect(server.calls.map(({ headers }) => headers["mcp-method"])).toEqual(["server/discover", "tools/call"]);
    expect(server.calls.at(-1)?.headers).toMatchObject({ "mcp-name": "lookup", "mcp-param-order": "o1" });
  });

  test("content that is not text is described, and structured content is used when there is no text", async () => {
    const results = [
      {
        content: [
          { type: "text" as const, text: "one\0" },
          { type: "image" as const, data: "QUJD", mimeType: "image/png" },
          { type: "resource" as const, resource: { uri: "file:///a.txt", text: "two" } },
          { type: "resource" as const, resource: { uri: "file:///b", mimeType: "a/b", blob: "QUJDRA==" } },
          { type: "resource_link" as const, uri: "file:///c", name: "c" },
        ],
        structuredContent: { ignored: true },
      },
      { content: [], structuredContent: { found: 1 } },
      { content: [{ type: "text" as const, text: "No such order." }], isError: true },
    ];
    const server = await startServer({ answer: () => results.shift() });
    expect((await call(lookup(server.url))).content.split("\n")).toEqual([
      "one",
      "[image image/png, 3 bytes]",
      "[resource file:///a.txt]",
      "two",
      "[resource file:///b a/b, 4 bytes]",
      "[resource file:///c c]",
    ]);
    expect(await call(lookup(server.url))).toEqual({ content: '{"found":1}', failed: false });
    expect(await call(lookup(server.url))).toEqual(
      failedResult("No such order.", "The tool shop_lookup_order reported an error."),
    );
  });

  test("a long text is truncated, and a response over 4 MiB is not read to its end", async () => {
    const sizes = [2, 6, 6];
    const answer = () => textResult("x".repeat((sizes.shift() ?? 0) * 1024 * 1024));
    const [streaming, plain] = await Promise.all([startServer({ answer }), startServer({ answer, json: true })]);
    const { content, failed } = await call(lookup(streaming.url));
    expect([content.slice(64 * 1024), failed]).toEqual(["\n[cut: 64 KiB of 2 MiB]", false]);
    const tooLong = failedResult("The MCP server answered with more than 4 MiB.");
    expect(await call(lookup(streaming.url))).toEqual(tooLong);
    expect(await call(lookup(plain.url))).toEqual(tooLong);
  });

  test("a response of many values is not parsed", async () => {
    const answer = () => ({ ...textResult("done"), structuredContent: { junk: Array(50_000).fill(0) } });
    const servers = await Promise.all([startServer({ answer }), startServer({ answer, json: true })]);
    for (const { url } of servers)
      expect(await call(lookup(url))).toEqual(
        failedResult("The response is larger than the limit of 50000 values of JSON."),
      );
  });

  test("an unknown tool, a refused request and arguments that are not an object are reported to the model", async () => {
    const server = await startServer({
      refuse: ({ rpc, headers }) =>
        rpc === "tools/call" && headers["x-request-id"] === "inv_2" ? { status: 403 } : undefined,
    });
    expect(await call(lookup(server.url, "nothing"))).toMatchObject({
      failed: true,
      content: expect.stringContaining("Unknown tool: nothing"),
    });
    const refused = { ...noSecrets, idempotencyKey: "key_1", requestId: "inv_2", signal: testTimeout() };
    const locked = "answered 403. It refuses the login: check `headers` of its MCP server.";
    expect(await tools.call(lookup(server.url), {}, refused)).toEqual(
      failedResult(`The tool shop_lookup_order ${locked}`),
    );
    const before = server.requests.length;
    expect(await call(lookup(server.url), [1])).toMatchObject({ failed: true });
    expect(server.requests.length).toBe(before);
  });

  test.each(["initialize", "tools/call"])(
    "503 to %s is transient, is not retried here, and Retry-After is passed on",
    async (step) => {
      const error = { jsonrpc: "2.0", id: 0, error: { code: -32_000, message: "Busy." } };
      const bodies = ["busy", JSON.stringify(error)];
      const server = await startServer({
        refuse: ({ rpc }) => {
          const body = rpc === step ? bodies.shift() : undefined;
          return body ? { status: 503, headers: { "retry-after": "2" }, body } : undefined;
        },
      });
      for (const _ of [...bodies]) {
        const failure = await catchError(call(lookup(server.url)));
        expect(failure).toBeInstanceOf(TransientToolError);
        expect(failure).toMatchObject({ message: "The tool shop_lookup_order answered 503.", retryAfterMs: 2000 });
      }
      expect(server.calls).toHaveLength(0);
      expect(await call(lookup(server.url))).toMatchObject({ failed: false });
      expect(server.calls).toHaveLength(1);
    },
  );

  test("a broken connection, a stream that ends early and a tool that hangs are transient", async () => {
    const cut = await startServer({ refuse: ({ rpc }) => (rpc === "tools/call" ? { status: 0 } : undefined) });
    expect(await catchError(call(lookup(cut.url)))).toBeInstanceOf(TransientToolError);
    const headers = { "content-type": "text/event-stream" };
    const early = await startServer({
      refuse: ({ rpc }) => (rpc === "tools/call" ? { status: 200, headers, body: 'data: {"jsonrpc":' } : undefined),
    });
    expect(await catchError(call(lookup(early.url)))).toBeInstanceOf(TransientToolError);
    const hanging = await startServer({ answer: hang, sessions: true });
    expect(await catchError(call(lookup(hanging.url), {}, AbortSignal.timeout(100)))).toEqual(
      new TransientToolError("The tool shop_lookup_order took too long to answer."),
    );
    expect(hanging.requests.at(-1)?.method).toBe("DELETE");
  });

  test("a request from the server during a call is rejected, and the call continues", async () => {
    const rejection = Promise.withResolvers<string>();
    const event = (message: object) => `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;
    async function* asking(id: number) {
      yield event({ id: "ask", method: "sampling/createMessage", params: {} });
      yield event({ id, result: textResult(`rejected ${await rejection.promise}`) });
    }
    const server = await startToolServer(({ body }) => {
      const { id, method, error } = JSON.parse(body || "{}");
      if (error) rejection.resolve(error.code);
      if (id === undefined || error) return { status: 202, body: "" };
      if (method === "tools/call")
        return { headers: { "content-type": "text/event-stream" }, body: Readable.from(asking(id)) };
      const serverInfo = { name: "asking", version: "1" };
      return {
        body: {
          jsonrpc: "2.0",
          id,
          result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo },
        },
      };
    });
    opened.push(server);
    expect(await call(lookup(server.url))).toEqual({ content: "rejected -32601", failed: false });
  });

  test("a caller that cancels gets its own abort reason", async () => {
    const controller = new AbortController();
    const server = await startServer({
      answer: () => {
        controller.abort(new Error("cancelled"));
        return hang();
      },
    });
    expect(await catchError(call(lookup(server.url), {}, controller.signal))).toEqual(new Error("cancelled"));
  });

  test("a server that hangs while closing its session delays the call by at most a second", async () => {
    const server = await startServer({ sessions: true });
    const slowToEnd = createTools({
      ...noSecrets,
      version: "1",
      fetch: (url, init) =>
        init?.method === "DELETE"
          ? new Promise((_, reject) => init.signal?.addEventListener("abort", () => reject(init.signal?.reason)))
          : guarded.fetch(url, init),
    });
    const startedAt = performance.now();
    const context = { ...noSecrets, idempotencyKey: "key_1", requestId: "inv_1", signal: testTimeout() };
    expect(await slowToEnd.call(lookup(server.url), { id: "o1" }, context)).toMatchObject({ failed: false });
    expect(performance.now() - startedAt).toBeLessThan(3000);
  });
});
