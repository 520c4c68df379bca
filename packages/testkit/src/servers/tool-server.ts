import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { pipeline, type Readable } from "node:stream";
import { text } from "node:stream/consumers";

/** A call of an HTTP tool, as the tool sees it. */
export interface HttpToolCall {
  readonly method: string;
  /** Path and query, as they came over the wire. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface HttpToolAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: string | Buffer | Readable | object;
}

export interface TestServer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

export interface ToolServer extends TestServer {
  /** Every call, in the order they came. */
  readonly calls: HttpToolCall[];
}

/** A request that cannot be handled is cut off. */
export async function listen(
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<TestServer> {
  const server = createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** An answer that never arrives. */
export const hang = (): Promise<never> => new Promise(() => {});

const isStream = (body: object): body is Readable => "pipe" in body;

/** Plain HTTP tools: records every call, and answers `{"ok":true}` unless `answer` returns something else. */
export async function startToolServer(
  answer: (call: HttpToolCall) => HttpToolAnswer | undefined | Promise<HttpToolAnswer | undefined> = () => undefined,
): Promise<ToolServer> {
  const calls: HttpToolCall[] = [];
  const server = await listen(async (request, response) => {
    const { method = "", url = "", headers } = request;
    const call = { method, path: url, headers, body: await text(request) };
    calls.push(call);
    const { status = 200, headers: sent = {}, body = { ok: true } } = (await answer(call)) ?? {};
    const plain = typeof body === "string" || Buffer.isBuffer(body) || isStream(body);
    response.writeHead(status, plain ? sent : { "content-type": "application/json", ...sent });
    // `pipeline` closes the connection if the stream fails, and ends the stream if the client disconnects.
    if (typeof body === "object" && isStream(body)) pipeline(body, response, () => undefined);
    else response.end(plain ? body : JSON.stringify(body));
  });
  return { ...server, calls };
}
