import { once } from "node:events";
import { createServer, type Socket } from "node:net";

export interface SilentNode {
  readonly url: string;
  readonly connections: () => number;
  readonly close: () => void;
}

/** A server that accepts connections and never answers, as a stopped process or a machine that hangs. */
export async function startSilentNode(port = 0): Promise<SilentNode> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    socket.resume();
  }).listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`,
    connections: () => connections,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
