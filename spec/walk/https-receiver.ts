import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Certificate } from "@perch/testkit/identity/certificates.ts";

export interface Delivery {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: Buffer;
}

export interface HttpsReceiver {
  readonly url: string;
  readonly deliveries: Delivery[];
  readonly close: () => Promise<void>;
}

/** A webhook endpoint with its own certificate. Each path is a different webhook. */
export async function startHttpsReceiver({ cert, key }: Certificate): Promise<HttpsReceiver> {
  const deliveries: Delivery[] = [];
  const server = createServer({ cert, key }, (request, response) => {
    void buffer(request).then((rawBody) => {
      deliveries.push({ path: request.url ?? "", headers: request.headers, rawBody });
      response.writeHead(204).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    deliveries,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
