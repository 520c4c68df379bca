import { startMcpServer, textResult } from "@perch/testkit/servers/mcp-server.ts";
import { type HttpToolAnswer, startToolServer, type TestServer } from "@perch/testkit/servers/tool-server.ts";
import { afterAll, describe, expect, test } from "vitest";
import { createRedactor } from "../../../test/support/create-redactor.ts";
import { noSecrets } from "../../../test/support/no-secrets.ts";
import { createGuardedClient } from "../guarded-client.ts";
import { createResolveCall } from "../secrets/resolve-call.ts";
import type { RunTool } from "./tool.ts";
import { PermanentToolError, TransientToolError } from "./tool-errors.ts";
import { createTools } from "./tools.ts";

const value = 's3cret"Value\\42/x';
let answer: HttpToolAnswer = {};
const server = await startToolServer(() => answer);
const guarded = createGuardedClient({ allowedRanges: ["127.0.0.0/8"] });
const opened: TestServer[] = [server];
afterAll(() => Promise.all([guarded.close(), ...opened.map(({ close }) => close())]));

/** The secret `key`, for whatever address a test has. */
const toolsAt = (url: string) =>
  createTools({
    ...noSecrets,
    fetch: guarded.fetch,
    version: "1",
    resolveCall: createResolveCall({
      createRedactor,
      findSecrets: async () => new Map([["key", { value, origins: [new URL(url).origin] }]]),
      onRefused: () => undefined,
    }),
  });
const headers = { "X-Api-Key": "{{secret.key}}" };
const context = () => ({ ...noSecrets, idempotencyKey: "1", requestId: "1", signal: AbortSignal.timeout(10_000) });
const definition = { name: "search", description: "", parameters: { type: "object" } };
const httpTool: RunTool = { definition, target: { kind: "http", method: "GET", url: server.url, headers } };
const callWith = (given: HttpToolAnswer) => {
  answer = given;
  return toolsAt(server.url).call(httpTool, {}, context());
};

/** Everything that a log could show of an error. */
const readError = (error: unknown): string =>
  error instanceof Error
    ? JSON.stringify(error, Object.getOwnPropertyNames(error)) + readError(error.cause) + String(error.stack)
    : "";

const startServer = async (options: Parameters<typeof startMcpServer>[0]) => {
  const started = await startMcpServer(options);
  opened.push(started);
  return started;
};

describe("the results of tools that give a secret back", () => {
  test.each([
    ["a result", 200, 64 * 1024],
    ["an error", 400, 4096],
  ])("are searched before they are cut: %s has no part of a value at its end", async (_, status, maxBytes) => {
    const body = `${"x".repeat(maxBytes - 6)}${value}${"y".repeat(200)}`;
    const { content } = await callWith({ status, headers: { "content-type": "text/plain" }, body });
    expect(content).not.toContain(value.slice(0, 5));
    expect(content).toContain("xxx[secr".slice(0, 5));
  });

  test("do not show it in the type of a body that is not text, nor in an answer in UTF-16", async () => {
    const typed = await callWith({ headers: { "content-type": `image/${value}` }, body: Buffer.from([1, 2]) });
    expect(typed.content).toBe("[2 bytes of image/[secret key]]");
    const charset = { "content-type": "text/plain; charset=utf-16le" };
    expect((await callWith({ headers: charset, body: Buffer.from(`a ${value} b`, "utf16le") })).content).toBe(
      "a [secret key] b",
    );
    // Without its charset, every second byte is NUL, which is removed from stored text.
    expect((await callWith({ headers: {}, body: Buffer.from(`a ${value} b`, "utf16le") })).content).toBe(
      "a [secret key] b",
    );
  });

  test("nor does an error of an MCP server, in its message or in what a log shows of it", async () => {
    const { url } = await startServer({ refuse: ({ headers: sent }) => ({ status: 403, body: JSON.stringify(sent) }) });
    const tools = [{ type: "mcp" as const, name: "shop", url, headers }];
    const failure = await toolsAt(url)
      .list(tools, noSecrets.owner, AbortSignal.timeout(10_000))
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(PermanentToolError);
    expect(String(failure)).toContain("The MCP server shop answered 403: ");
    expect(String(failure)).toContain("[secret key]");
    expect(String(failure)).toMatch(
      /It refuses the login: check the secrets? .*key.*, and `headers` of the tool shop\.$/,
    );
    for (const part of [value, JSON.stringify(value).slice(1, -1)]) expect(readError(failure)).not.toContain(part);
  });

  test("nor a transient error, whose message names no more than the status", async () => {
    const { url } = await startServer({ refuse: ({ headers: sent }) => ({ status: 503, body: JSON.stringify(sent) }) });
    const target = { kind: "mcp" as const, url, tool: "add", headers };
    const failure = await toolsAt(url)
      .call({ definition, target }, {}, context())
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TransientToolError);
    for (const part of [value, JSON.stringify(value).slice(1, -1)]) expect(readError(failure)).not.toContain(part);
  });

  test("a listing is journaled with templates, and without what a server writes into its descriptions", async () => {
    const { url } = await startServer({
      tools: [
        {
          name: "add",
          description: `Use ${value}`,
          inputSchema: { type: "object", properties: { [value]: { type: "string", default: value } } },
        },
      ],
      answer: ({ headers: sent }) => textResult(String(sent["x-api-key"])),
    });
    const tools = [{ type: "mcp" as const, name: "shop", url, headers }];
    const [listed] = await toolsAt(url).list(tools, noSecrets.owner, AbortSignal.timeout(10_000));
    if (!listed) throw new Error("nothing was listed");
    expect(listed.target).toMatchObject({ headers, tool: "add" });
    expect(listed.definition.description).toBe("Use [secret key]");
    expect(JSON.stringify(listed)).not.toContain(JSON.stringify(value).slice(1, -1));
    expect(await toolsAt(url).call(listed, {}, context())).toEqual({ content: "[secret key]", failed: false });
  });
});
