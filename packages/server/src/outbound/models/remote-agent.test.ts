import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { afterAll, describe, expect, test } from "vitest";
import { noSecrets } from "../../../test/support/no-secrets.ts";
import { createGuardedClient } from "../guarded-client.ts";
import { PermanentModelError, TransientModelError } from "./model.ts";
import { createCallRemoteAgent, type RemoteRequest } from "./remote-agent.ts";

type Answer = (response: ServerResponse) => void;
const seen: { headers: IncomingHttpHeaders; body: unknown }[] = [];
let answer: Answer = (response) => response.end();
const server = createServer((request, response) => {
  void json(request).then((body) => {
    seen.push({ headers: request.headers, body });
    answer(response);
  });
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const address = server.address();
const url = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}/agent`;
const client = createGuardedClient({ allowedRanges: ["127.0.0.0/8"] });
afterAll(async () => {
  await client.close();
  server.closeAllConnections();
  server.close();
});

const call = createCallRemoteAgent({ ...noSecrets, fetch: client.fetch, version: "1.2.3" });
const request = (change: Partial<RemoteRequest> = {}): RemoteRequest => ({
  owner: noSecrets.owner,
  requestId: "req_1",
  agentId: "agent_1",
  message: "hello",
  context: { userId: "u", sessionId: null, environment: "production" },
  history: [
    { role: "user", content: "before" },
    { role: "assistant", content: "yes" },
  ],
  memories: [{ id: "mem_1", content: "likes tea", updatedAt: "2026-01-01T00:00:00.000Z" }],
  signal: AbortSignal.timeout(5000),
  onText: () => undefined,
  ...change,
});
const callWith = async (next: Answer, change: Partial<RemoteRequest> = {}) => {
  answer = next;
  return call(url, request(change));
};
const withJson =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
const withEvents =
  (...events: [string, unknown][]): Answer =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const [event, data] of events) response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    response.end();
  };
const failure = (next: Answer, change: Partial<RemoteRequest> = {}) =>
  callWith(next, change).then(
    () => undefined,
    (error: unknown) => error,
  );

describe("a remote agent", () => {
  test("receives the message, the context and the history, with the run's id as Idempotency-Key", async () => {
    const pieces: string[] = [];
    const reply = await callWith(withJson(200, { response: "hi", tokens_used: 3 }), {
      onText: (text) => void pieces.push(text),
    });
    expect(reply).toEqual({ text: "hi", toolCalls: [], tokens: 3 });
    expect(pieces).toEqual(["hi"]);
    const { headers, body } = seen.at(-1) ?? {};
    expect(headers).toMatchObject({ "idempotency-key": "req_1", "x-request-id": "req_1", "user-agent": "perch/1.2.3" });
    expect(body).toEqual({
      request_id: "req_1",
      agent_id: "agent_1",
      message: "hello",
      context: { user_id: "u", session_id: null, environment: "production" },
      history: [
        { role: "user", content: "before" },
        { role: "assistant", content: "yes" },
      ],
      memories: [{ id: "mem_1", content: "likes tea", updated_at: "2026-01-01T00:00:00.000Z" }],
    });
  });

  test("may stream: tokens are passed on, and `done` may omit the text or repeat all of it", async () => {
    const pieces: string[] = [];
    const tokens: [string, unknown][] = [
      ["token", { text: "Hel" }],
      ["token", { text: "lo" }],
    ];
    const onText = (text: string) => void pieces.push(text);
    expect(await callWith(withEvents(...tokens, ["done", {}]), { onText })).toEqual({
      text: "Hello",
      toolCalls: [],
      tokens: 0,
    });
    expect(pieces).toEqual(["Hel", "lo"]);
    expect((await callWith(withEvents(...tokens, ["done", { response: "Hello!", tokens_used: 9 }]))).text).toBe(
      "Hello!",
    );
  });

  test.each([
    [429, { "retry-after": "3" }, 3000],
    [503, {}, undefined],
    [500, {}, undefined],
    [409, {}, undefined],
  ])("%i is transient, and Retry-After is passed on", async (status, headers, retryAfterMs) => {
    const error = await failure(withJson(status, { error: { message: "not now" } }, headers as Record<string, string>));
    expect(error).toBeInstanceOf(TransientModelError);
    expect(error).toMatchObject({
      retryAfterMs,
      message: expect.stringContaining(`answers ${status}: not now`) as string,
    });
  });

  test.each([
    [400, { error: { message: "no such user" } }, "no such user"],
    [422, { error: "plain" }, "plain"],
    [404, "<html>", "answers 404."],
    [302, {}, "Redirects are not followed."],
    [401, { error: "who?" }, "answers 401: who? It refuses the login: check `runtime.headers` of the agent."],
    [403, "", "answers 403. It refuses the login: check `runtime.headers` of the agent."],
  ])("%i is permanent, with the service's message", async (status, body, text) => {
    const error = await failure(withJson(status, body, { location: "http://127.0.0.1:1/" }));
    expect(error).toBeInstanceOf(PermanentModelError);
    expect((error as Error).message).toContain(text);
  });

  test.each([
    ["no JSON", (response: ServerResponse) => response.end("hello")],
    ["another shape", withJson(200, { answer: "x" })],
    ["a token of another shape", withEvents(["token", { delta: "x" }])],
    ["its own error", withEvents(["error", { message: "I give up" }])],
  ])("%s is a permanent failure", async (_, next) => {
    expect(await failure(next)).toBeInstanceOf(PermanentModelError);
  });

  test.each([
    ["ends its stream too early", withEvents(["token", { text: "x" }])],
    ["breaks off", (response: ServerResponse) => void response.destroy()],
  ])("that %s is a transient failure", async (_, next) => {
    expect(await failure(next)).toBeInstanceOf(TransientModelError);
  });

  test("that refuses connections is unreachable, and the message gives advice", async () => {
    const host = `127.0.0.1:${await freePort()}`;
    const error = await call(`http://${host}/`, request()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TransientModelError);
    expect(error).toMatchObject({
      message: `The agent at ${host} could not be reached: it refuses connections (ECONNREFUSED).`,
      isUnreachable: true,
      advice: "Start it, or correct `runtime.url` of the agent.",
    });
  });

  test("at a private address is refused, and one that hangs is aborted by the caller's signal", async () => {
    const strict = createGuardedClient({ allowedRanges: [] });
    const refused = createCallRemoteAgent({ ...noSecrets, fetch: strict.fetch, version: "1" })(url, request());
    await expect(refused).rejects.toThrow(PermanentModelError);
    await strict.close();
    const startedAt = performance.now();
    expect(await failure(() => undefined, { signal: AbortSignal.timeout(50) })).toBeInstanceOf(Error);
    expect(performance.now() - startedAt).toBeLessThan(1000);
  });
});
