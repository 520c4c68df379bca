import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedDelivery {
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

export interface WebhookReceiver {
  readonly url: string;
  readonly port: number;
  readonly received: ReceivedDelivery[];
  readonly close: () => Promise<void>;
}

/** Starts a webhook endpoint. `answer` responds to each delivery, or leaves it without a response. */
export async function startWebhookReceiver(
  answer: (received: ReceivedDelivery, reply: ServerResponse) => void = (_, reply) => void reply.end("thanks"),
  port = 0,
): Promise<WebhookReceiver> {
  const received: ReceivedDelivery[] = [];
  const handleDelivery = async (request: IncomingMessage, reply: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await request.toArray()).toString("utf8");
    const delivery: ReceivedDelivery = { headers: request.headers, body, event: JSON.parse(body), atMs: Date.now() };
    received.push(delivery);
    answer(delivery, reply);
  };
  // A request whose body was cut off is not recorded.
  const server: Server = createServer(
    (request, reply) => void handleDelivery(request, reply).catch(() => reply.destroy()),
  );
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const { port: listeningPort } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${listeningPort}/hook`,
    port: listeningPort,
    received,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
