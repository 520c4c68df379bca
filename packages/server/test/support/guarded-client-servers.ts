import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  createGuardedClient,
  type GuardedClient,
  type GuardOptions,
  type Resolve,
} from "../../src/outbound/guarded-client.ts";

// Shared by the tests of the guarded client.

const servers: Server[] = [];
const clients: GuardedClient[] = [];

export async function closeAll(): Promise<void> {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  for (const server of servers.splice(0)) server.close().closeAllConnections();
}

/** Starts a server that records the local address of each connection. */
export async function startTestServer(answer: RequestListener, host = "127.0.0.1") {
  const connectedAddresses: (string | undefined)[] = [];
  const server = createServer(answer);
  server.on("connection", (socket) => connectedAddresses.push(socket.localAddress));
  servers.push(server.listen(0, host));
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { server, port, connectedAddresses, url: `http://127.0.0.1:${port}/` };
}

export const replyHello: RequestListener = (_, reply) => void reply.end("hello");

export const loopback = ["127.0.0.1"];

export function createTestClient(options: Partial<GuardOptions> = {}): GuardedClient {
  const client = createGuardedClient({ allowedRanges: [], ...options });
  clients.push(client);
  return client;
}

export const resolveTo =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

/** Returns the error of a promise, and throws if it resolves. */
export async function rejectionReason(promise: Promise<unknown>): Promise<unknown> {
  const [result] = await Promise.allSettled([promise]);
  if (result.status === "fulfilled") throw new Error("did not fail", { cause: result.value });
  return result.reason;
}
