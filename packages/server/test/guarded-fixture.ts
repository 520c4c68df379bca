import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createGuardedClient, type GuardedClient, type GuardOptions } from "../src/platform/guarded-client.ts";
import type { Resolve } from "../src/platform/guarded-connector.ts";

// What the tests of the guarded client share. Nothing else imports it.

const servers: Server[] = [];
const clients: GuardedClient[] = [];

export async function closeAll(): Promise<void> {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  for (const server of servers.splice(0)) server.close().closeAllConnections();
}

/** A server that notes on which of its addresses somebody came. */
export async function serve(answer: RequestListener, host = "127.0.0.1") {
  const visits: (string | undefined)[] = [];
  const server = createServer(answer);
  server.on("connection", (socket) => visits.push(socket.localAddress));
  servers.push(server.listen(0, host));
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { server, port, visits, url: `http://127.0.0.1:${port}/` };
}

export const hello: RequestListener = (_, reply) => void reply.end("hello");

export const loopback = ["127.0.0.1"];

export function guarded(options: Partial<GuardOptions> = {}): GuardedClient {
  const client = createGuardedClient({ allowedRanges: [], ...options });
  clients.push(client);
  return client;
}

export const answers =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

/** What a promise fails with. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  const [result] = await Promise.allSettled([promise]);
  if (result.status === "fulfilled") throw new Error("did not fail", { cause: result.value });
  return result.reason;
}
