import { type McpServer, startMcpServer } from "@perch/testkit/servers/mcp-server.ts";
import { type HttpToolAnswer, startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createRedactor } from "../../../test/support/create-redactor.ts";
import { noSecrets } from "../../../test/support/no-secrets.ts";
import { toPublicId } from "../../platform/ids.ts";
import { createGuardedClient } from "../guarded-client.ts";
import { createResolveCall } from "../secrets/resolve-call.ts";
import { type ConnectedTool, NotConnectedError, type ToolToken, type ToolUser } from "./find-token.ts";
import type { RunTool } from "./tool.ts";
import { TransientToolError } from "./tool-errors.ts";
import { createTools } from "./tools.ts";

const tokens = ["first-access-token-123", "second-access-token-456"];
let answer: (authorization: string) => HttpToolAnswer = () => ({ body: {} });
const server = await startToolServer(({ headers }) => answer(String(headers.authorization)));
const guarded = createGuardedClient({ allowedRanges: ["127.0.0.0/8"] });
const opened: McpServer[] = [];
afterAll(() => Promise.all([guarded.close(), server.close(), ...opened.map(({ close }) => close())]));

/** The requested tokens, in order. */
let asked: { user: ToolUser; tool: ConnectedTool; rejected: ToolToken | undefined }[] = [];
let next: () => Promise<ToolToken>;
beforeEach(() => {
  asked = [];
  next = async () => ({ value: tokens[asked.length - 1] ?? "", generation: asked.length });
});

const tools = createTools({
  ...noSecrets,
  resolveCall: createResolveCall({
    createRedactor,
    findSecrets: async () =>
      new Map([["key", { value: "a-secret-of-the-tool", origins: [new URL(server.url).origin] }]]),
    onRefused: () => undefined,
  }),
  findToken: (user, tool, { rejected }) => {
    asked.push({ user, tool, rejected });
    return next();
  },
  fetch: guarded.fetch,
  version: "1",
});

const owner = { ...noSecrets.owner, userId: "ada" };
const link = (tool: string) =>
  `\`POST /v1/agents/${toPublicId("agent", owner.agentId)}/connections\` with \`"tool": "${tool}"\``;
const context = () => ({ owner, idempotencyKey: "1", requestId: "1", signal: AbortSignal.timeout(10_000) });
const connection = { account: "user" as const, issuer: "https://login.example" };
const definition = { name: "orders", description: "", parameters: { type: "object" } };
const httpTool = (): RunTool => ({
  definition,
  target: { kind: "http", method: "POST", url: server.url, connection, headers: { "X-Key": "{{secret.key}}" } },
});
const ofUsers = { ...connection, return_urls: ["https://app.example/back"] };
const call = (tool: RunTool) => tools.call(tool, {}, context());

describe("calls with an account", () => {
  test("an HTTP tool gets the token of the run's user, beside its other headers", async () => {
    answer = (authorization) => ({ body: { authorization } });
    const { content } = await call(httpTool());
    expect(server.calls.at(-1)?.headers).toMatchObject({
      authorization: `Bearer ${tokens[0]}`,
      "x-key": "a-secret-of-the-tool",
    });
    expect(content).toBe('{"authorization":"Bearer [token of orders]"}');
    expect(asked).toMatchObject([{ user: owner, tool: { type: "http", name: "orders", url: server.url, connection } }]);
  });

  test.each([
    ["as it is", (token: string) => token],
    ["in base64", (token: string) => Buffer.from(`Bearer ${token}`).toString("base64")],
    ["escaped", (token: string) => token.replaceAll("-", "%2D")],
  ])("a token that comes back %s is taken out, in results and in errors", async (_, form) => {
    verifies("connections.no-tokens-shown");
    for (const status of [200, 400, 403]) {
      asked = [];
      answer = (authorization) => ({ status, body: { echo: form(authorization.slice("Bearer ".length)) } });
      const result = await call(httpTool());
      expect(JSON.stringify(result)).toContain("[token of orders]");
      for (const token of tokens) expect(JSON.stringify(result)).not.toContain(form(token));
    }
  });

  test("a refused token is replaced once, and the call repeated with the same key", async () => {
    verifies("connections.refresh");
    answer = (authorization) => (authorization.includes("first") ? { status: 401 } : { body: { ok: true } });
    const before = server.calls.length;
    expect(await call(httpTool())).toEqual({ content: '{"ok":true}', failed: false });
    const sent = server.calls.slice(before);
    expect(sent.map(({ headers }) => headers["idempotency-key"])).toEqual(["1", "1"]);
    expect(asked.map(({ rejected }) => rejected)).toEqual([undefined, { value: tokens[0], generation: 1 }]);
  });

  test("a refused token that comes back with the answer to the next is taken out too", async () => {
    verifies("connections.no-tokens-shown");
    answer = (authorization) => (authorization.includes("first") ? { status: 401 } : { body: { tokens } });
    expect(await call(httpTool())).toEqual({
      content: '{"tokens":["[token of orders]","[token of orders]"]}',
      failed: false,
    });
  });

  test("a tool that refuses the next token too fails with advice, after two calls", async () => {
    verifies("connections.refresh");
    answer = () => ({ status: 401, body: { error: "no" } });
    const before = server.calls.length;
    const result = await call(httpTool());
    expect(result).toMatchObject({ failed: true, content: expect.stringContaining('answered 401: {"error":"no"}') });
    expect(result.reason).toContain("The tool orders answered 401. It refuses the user's account");
    expect(result.reason).toContain(link("orders"));
    expect(server.calls.length - before).toBe(2);
  });

  test("if there is no other token, the call is not repeated", async () => {
    answer = () => ({ status: 401 });
    next = async () => ({ value: tokens[0] ?? "", generation: 1 });
    const before = server.calls.length;
    expect((await call(httpTool())).failed).toBe(true);
    expect(server.calls.length - before).toBe(1);
  });

  test("without an account nothing is called: the model is informed, and the log explains how to get a link", async () => {
    verifies("connections.not-connected");
    next = async () => {
      throw new NotConnectedError("again", { tool: "orders", agentId: owner.agentId, reason: "The provider says no." });
    };
    const before = server.calls.length;
    expect(await call(httpTool())).toEqual({
      failed: true,
      content:
        "The tool orders could not be used. The user's account is not accepted any more. Tell the user that they have to connect it again, and then ask again.",
      reason: `The tool orders could not use the user's account. The provider says no. ${link("orders")} gives a new link.`,
    });
    expect(server.calls.length).toBe(before);
  });

  test("what may be retried is retried", async () => {
    next = () => Promise.reject(new TransientToolError("The provider is down."));
    await expect(call(httpTool())).rejects.toBeInstanceOf(TransientToolError);
  });

  test("tools of a server are listed and called with the account of the server; the journal has no token", async () => {
    verifies("connections.no-tokens-shown");
    const mcp = await startMcpServer();
    opened.push(mcp);
    const listed = await tools.list(
      [{ type: "mcp", name: "mail", url: mcp.url, connection: ofUsers }],
      owner,
      signal(),
    );
    const [first] = listed;
    expect(first?.target).toMatchObject({ kind: "mcp", server: "mail", connection });
    expect(JSON.stringify(listed)).not.toContain("return_urls");
    for (const token of tokens) expect(JSON.stringify(listed)).not.toContain(token);
    await tools.call(first as RunTool, {}, context());
    expect(asked.map(({ tool }) => tool)).toEqual(
      Array(2).fill({ type: "mcp", name: "mail", url: mcp.url, connection }),
    );
    const sent = mcp.requests.map(({ headers }) => headers.authorization);
    expect(new Set(sent)).toEqual(new Set(tokens.map((token) => `Bearer ${token}`)));
  });

  test("a server that is not connected is one tool that reports it, beside those of others", async () => {
    verifies("connections.not-connected");
    const mcp = await startMcpServer();
    opened.push(mcp);
    next = async () => {
      throw new NotConnectedError("not yet", { tool: "mail", agentId: owner.agentId });
    };
    const servers = [
      { type: "mcp" as const, name: "mail", url: "https://mail.example/mcp", connection: ofUsers },
      { type: "mcp" as const, name: "orders", url: mcp.url },
    ];
    const [mail, ...others] = await tools.list(servers, owner, signal());
    expect(mail?.definition).toEqual({
      name: "mail",
      description:
        "The tools of mail are not available. The user has not connected their account with it yet. Tell the user that they have to connect it first, and then ask again.",
      parameters: { type: "object" },
    });
    expect(others.length).toBeGreaterThan(0);
    expect(others.every(({ definition: { name } }) => name.startsWith("orders_"))).toBe(true);
    const result = await call(mail as RunTool);
    expect(result).toMatchObject({ failed: true, content: expect.stringContaining("connect it first") });
    expect(result.reason).toContain(link("mail"));
  });
});

const signal = () => AbortSignal.timeout(10_000);
