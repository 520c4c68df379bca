import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly event: {
    id: string;
    type: string;
    created_at: string;
    agent_id: string | null;
    data: Record<string, unknown>;
  };
  readonly atMs: number;
}

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  readonly close: () => Promise<void>;
}

/** Somebody's endpoint. `answer` decides how each delivery goes; it may also leave it without an answer. */
export async function startReceiver(
  answer: (received: Received, reply: ServerResponse) => void = (_, reply) => void reply.end("thanks"),
  port = 0,
): Promise<Receiver> {
  const received: Received[] = [];
  const take = async (request: IncomingMessage, reply: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await request.toArray()).toString("utf8");
    const got: Received = { headers: request.headers, body, event: JSON.parse(body), atMs: Date.now() };
    received.push(got);
    answer(got, reply);
  };
  // Whoever left before all was said has said nothing.
  const server: Server = createServer((request, reply) => void take(request, reply).catch(() => reply.destroy()));
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const { port: listens } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${listens}/hook`,
    port: listens,
    received,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
