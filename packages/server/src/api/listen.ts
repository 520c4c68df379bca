import { once } from "node:events";
import { type AddressInfo, createServer, type ListenOptions, type Server } from "node:net";
import type { FastifyInstance } from "fastify";

/**
 * The queue of clients that connect at once while the process is busy. Beyond it, all new connections wait for seconds.
 */
const backlog = 4096;

/**
 * Node accepts one connection at each listening socket in each turn of the event loop. The turns of a busy process take
 * tens of milliseconds, so one socket would accept some thirty connections a second, and all clients behind one that
 * opens hundreds would wait. So several sockets listen at the same port, and the system divides the connections among
 * them.
 */
const sockets = 16;
const isDivided = process.platform === "linux";

async function startServer(server: Server, options: ListenOptions): Promise<Server> {
  server.listen({ backlog, ...options });
  await once(server, "listening");
  return server;
}

const close = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

/** Sockets that share a port do not notice when another process has it already. One that does not share it does. */
const refusePortInUse = async (host: string, port: number): Promise<void> =>
  close(await startServer(createServer(), { host, port }));

/** Listens, before the app is ready, until it is closed. */
export async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  if (!isDivided) return app.listen({ host, port, backlog });
  if (port !== 0) await refusePortInUse(host, port);
  const others: Server[] = [];
  let closing: Promise<unknown> = Promise.resolve();
  app.addHook("preClose", (done) => {
    closing = Promise.all(others.map(close));
    done();
  });
  // After those of the first socket, which ends all idle connections.
  app.addHook("onClose", () => closing.then(() => undefined));
  const shared = { host, port, backlog, reusePort: true };
  const url = await app.listen(shared);
  for (const { address, port: bound } of app.addresses() as AddressInfo[])
    for (let i = 1; i < sockets; i++) {
      // As Node's own HTTP server creates its sockets.
      const other = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
        app.server.emit("connection", socket),
      );
      others.push(await startServer(other, { ...shared, host: address, port: bound }));
    }
  return url;
}
