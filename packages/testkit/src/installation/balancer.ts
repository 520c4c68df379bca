import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface Balancer {
  readonly url: string;
  /** Connections of each backend, the busiest first. */
  readonly loads: () => { readonly port: number; readonly connections: number }[];
  readonly close: () => void;
}

/** A TCP load balancer: round robin, skipping backends that refuse the connection. */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const open = new Map<number, Set<Socket>>(ports.map((port) => [port, new Set()]));
  const clients = new Set<Socket>();
  let turn = 0;

  const pair = (client: Socket, port: number, backend: Socket) => {
    open.get(port)?.add(backend);
    for (const [one, other] of [
      [client, backend],
      [backend, client],
    ] as const) {
      one.setNoDelay(true);
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
      one.pipe(other);
    }
    backend.on("close", () => open.get(port)?.delete(backend));
  };

  const connectToBackend = (client: Socket, attemptsLeft: number) => {
    if (attemptsLeft === 0 || client.destroyed) return client.destroy();
    const port = ports[turn++ % ports.length] ?? 0;
    const backend = connect(port, "127.0.0.1");
    const refused = () => connectToBackend(client, attemptsLeft - 1);
    backend.once("error", refused);
    backend.once("connect", () => {
      backend.off("error", refused);
      pair(client, port, backend);
    });
    return client;
  };

  const server = createServer({ pauseOnConnect: false }, (client) => {
    clients.add(client);
    client.on("error", () => client.destroy());
    client.on("close", () => clients.delete(client));
    connectToBackend(client, ports.length);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`,
    loads: () =>
      [...open]
        .map(([port, connections]) => ({ port, connections: connections.size }))
        .sort((a, b) => b.connections - a.connections),
    close: () => {
      server.close();
      for (const client of clients) client.destroy();
    },
  };
}
