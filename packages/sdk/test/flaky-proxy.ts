import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** The effect of the network on one request. */
export type Fault =
  /** The connection is closed before the server gets the request. */
  | "lose the request"
  /** The server handles the request, and the caller gets no answer. */
  | "lose the answer"
  | { readonly cutAfterBytes: number }
  | { readonly delayMs: number }
  | { readonly status: number; readonly retryAfter?: number; readonly html?: true };

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly idempotencyKey: string | undefined;
  readonly lastEventId: string | undefined;
  readonly atMs: number;
}

export interface FlakyProxy {
  readonly url: string;
  readonly seen: SeenRequest[];
  /** For the next requests, one each. After them all goes well. */
  readonly expect: (...faults: (Fault | undefined)[]) => void;
  readonly close: () => Promise<void>;
}

const headerOf = (request: IncomingMessage, name: string): string | undefined => {
  const value = request.headers[name];
  return typeof value === "string" ? value : undefined;
};

function refuse(reply: ServerResponse, fault: Extract<Fault, { status: number }>): void {
  const { status, retryAfter, html } = fault;
  const error = { code: status === 429 ? "rate_limited" : "unavailable", message: "Not now", retry_after: retryAfter };
  const headers = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
  if (html) reply.writeHead(status, { ...headers, "content-type": "text/html" }).end("<h1>Bad gateway</h1>");
  else
    reply
      .writeHead(status, { ...headers, "content-type": "application/json" })
      .end(JSON.stringify({ success: false, error }));
}

/** Passes so many bytes on, and is gone in the middle of whatever comes next. */
async function passOn(answer: IncomingMessage, reply: ServerResponse, maxBytes: number): Promise<void> {
  reply.writeHead(answer.statusCode ?? 502, answer.headers);
  reply.flushHeaders();
  let left = maxBytes;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    const part = chunk.subarray(0, left);
    left -= part.length;
    await new Promise((resolve) => reply.write(part, resolve));
    if (left <= 0) {
      reply.destroy();
      answer.destroy();
      return;
    }
  }
  reply.end();
}

/** A network between client and server that fails as the test chooses. */
export async function startFlakyProxy(target: () => string): Promise<FlakyProxy> {
  const seen: SeenRequest[] = [];
  const faults: (Fault | undefined)[] = [];

  const handle = async (request: IncomingMessage, reply: ServerResponse): Promise<void> => {
    const { method = "", url = "", headers } = request;
    const fault = faults.shift();
    const idempotencyKey = headerOf(request, "idempotency-key");
    const lastEventId = headerOf(request, "last-event-id");
    seen.push({ method, path: url, idempotencyKey, lastEventId, atMs: performance.now() });
    const body = Buffer.concat(await request.toArray());
    if (fault === "lose the request") return void request.socket.destroy();
    if (typeof fault === "object" && "status" in fault) return refuse(reply, fault);
    const outgoing = httpRequest(target() + url, { method, headers: { ...headers, connection: "close" } });
    outgoing.on("error", () => reply.destroy());
    outgoing.end(body);
    const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
    if (fault === "lose the answer") {
      await answer.toArray();
      return void request.socket.destroy();
    }
    if (typeof fault === "object" && "delayMs" in fault) await sleep(fault.delayMs);
    await passOn(answer, reply, typeof fault === "object" && "cutAfterBytes" in fault ? fault.cutAfterBytes : Infinity);
  };

  const server = createServer((request, reply) => void handle(request, reply).catch(() => reply.destroy()));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    expect: (...next) => void faults.splice(0, faults.length, ...next),
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
