import { exampleTools, type McpServerOptions, startMcpServer } from "@perch/testkit/servers/mcp-server.ts";
import { hang, startToolServer, type TestServer } from "@perch/testkit/servers/tool-server.ts";
import { afterAll, describe, expect, test } from "vitest";
import { noSecrets } from "../../../test/support/no-secrets.ts";
import { createGuardedClient } from "../guarded-client.ts";
import { echoTool } from "./tool.ts";
import { PermanentToolError, TransientToolError } from "./tool-errors.ts";
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
const testTimeout = () => AbortSignal.timeout(10_000);
const list = (servers: Readonly<Record<string, string>>, signal = testTimeout()) =>
  tools.list(
    Object.entries(servers).map(([name, url]) => ({ type: "mcp", name, url }) as const),
    noSecrets.owner,
    signal,
  );
const catchError = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);
const many = (count: number, description = "") =>
  Array.from({ length: count }, (_, index) => ({
    name: `t${index}`,
    description,
    inputSchema: { type: "object" as const },
  }));

describe("listing the tools of a run", () => {
  test("keeps the names of HTTP tools, prefixes MCP tools with their server's name, and reads every page", async () => {
    const server = await startServer({ tools: [...exampleTools, ...many(3)], toolsPerPage: 2 });
    const http = { type: "http", name: "pay", description: "Pays.", method: "POST", url: server.url } as const;
    const found = await tools.list(
      [
        { type: "mcp", name: "shop", url: server.url },
        { ...http, parameters: { type: "object" } },
      ],
      noSecrets.owner,
      testTimeout(),
    );
    const names = ["pay", "shop_lookup_order", "shop_add", "shop_t0", "shop_t1", "shop_t2"];
    expect(found.map(({ definition }) => definition.name)).toEqual(names);
    expect(found[1]).toEqual({
      definition: {
        name: "shop_lookup_order",
        description: "Finds an order.",
        parameters: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
      },
      target: { kind: "mcp", url: server.url, tool: "lookup_order" },
    });
    expect(JSON.parse(JSON.stringify(found))).toEqual(found);
    expect(server.requests.filter(({ rpc }) => rpc === "tools/list")).toHaveLength(3);
  });

  test("lists servers concurrently, and fails as soon as one of them fails", async () => {
    let asked = 0;
    const bothAsked = Promise.withResolvers<void>();
    const together = async () => {
      if (++asked === 2) bothAsked.resolve();
      await bothAsked.promise;
    };
    const [a, b] = await Promise.all([startServer(), startServer()]);
    const waiting = createTools({
      ...noSecrets,
      version: "1",
      fetch: async (url, init) => {
        if (typeof init?.body === "string" && init.body.includes("tools/list")) await together();
        return guarded.fetch(url, init);
      },
    });
    const servers = [a, b].map(({ url }, index) => ({ type: "mcp", name: `s${index}`, url }) as const);
    expect(await waiting.list(servers, noSecrets.owner, testTimeout())).toHaveLength(4);
    const hanging = await startToolServer(hang);
    opened.push(hanging);
    const refusing = await startServer({ refuse: () => ({ status: 401, body: "Who are you?" }) });
    expect(await catchError(list({ slow: hanging.url, shop: refusing.url }))).toEqual(
      new PermanentToolError(
        "The MCP server shop answered 401: Who are you? It refuses the login: check `headers` of the tool shop.",
        { summary: "The MCP server shop answered 401. It refuses the login: check `headers` of the tool shop." },
      ),
    );
  });

  test("refuses more than 128 tools or 512 KiB over all servers, and names the server", async () => {
    const [some, more, large] = await Promise.all([
      startServer({ tools: many(100) }),
      startServer({ tools: many(29) }),
      startServer({ tools: many(10, "x".repeat(60_000)) }),
    ]);
    expect(await list({ a: some.url })).toHaveLength(100);
    const tooMany = await catchError(list({ a: some.url, b: more.url }));
    expect(tooMany).toEqual(new PermanentToolError("With the MCP server b there are more than 128 tools."));
    expect(tooMany).toBeInstanceOf(PermanentToolError);
    await expect(list({ c: large.url })).rejects.toThrow("With the MCP server c the definitions of tools are larger");
  });

  test.each([
    ["a page of HTML", { headers: { "content-type": "text/html" }, body: "<p>" }, "does not answer in MCP"],
    ["other JSON", { body: { hello: 1 } }, "does not answer in MCP"],
    ["a redirect", { status: 302, headers: { location: "/" }, body: "" }, "answers with a redirect"],
    ["a 404", { status: 404, body: "nothing here" }, "answered 404: nothing here"],
  ])("%s instead of MCP is a permanent failure", async (_, answer, message) => {
    const server = await startToolServer(() => answer);
    opened.push(server);
    const failure = await catchError(list({ shop: server.url }));
    expect(failure).toBeInstanceOf(PermanentToolError);
    expect(String(failure)).toContain(`The MCP server shop ${message}`);
  });

  test("a refused address is permanent; 503, a timeout and a refused connection are transient", async () => {
    const strict = createGuardedClient({ allowedRanges: [] });
    const refused = createTools({ ...noSecrets, fetch: strict.fetch, version: "1" });
    const server = await startServer({ refuse: () => ({ status: 503, headers: { "retry-after": "3" } }) });
    const wanted = [{ type: "mcp", name: "shop", url: server.url } as const];
    expect(await catchError(refused.list(wanted, noSecrets.owner, testTimeout()))).toBeInstanceOf(PermanentToolError);
    expect(server.requests).toEqual([]);
    await strict.close();

    const busy = await catchError(list({ shop: server.url }));
    expect(busy).toBeInstanceOf(TransientToolError);
    expect(busy).toMatchObject({ message: "The MCP server shop answered 503.", retryAfterMs: 3000 });
    await server.close();
    expect(await catchError(list({ shop: server.url }))).toBeInstanceOf(TransientToolError);
    const hanging = await startToolServer(hang);
    opened.push(hanging);
    expect(await catchError(list({ shop: hanging.url }, AbortSignal.timeout(50)))).toEqual(
      new TransientToolError("The MCP server shop took too long to answer."),
    );
  });
});

test("perch_echo returns its arguments as JSON", async () => {
  const context = { ...noSecrets, idempotencyKey: "key_1", requestId: "inv_1", signal: testTimeout() };
  expect(await tools.call(echoTool, { a: [1] }, context)).toEqual({ content: '{"a":[1]}', failed: false });
  expect(await tools.call(echoTool, undefined, context)).toEqual({ content: "null", failed: false });
});
