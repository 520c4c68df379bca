import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface Balancer {
  readonly url: string;
  /** Backends by how many connections they hold, the busiest first. */
  readonly loads: () => { readonly port: number; readonly connections: number }[];
  readonly close: () => void;
}

/** One address for several workers. It passes bytes, turn by turn, and skips a backend that refuses. */
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

  const offer = (client: Socket, left: number) => {
    if (left === 0 || client.destroyed) return client.destroy();
    const port = ports[turn++ % ports.length] ?? 0;
    const backend = connect(port, "127.0.0.1");
    const refused = () => offer(client, left - 1);
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
    offer(client, ports.length);
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
