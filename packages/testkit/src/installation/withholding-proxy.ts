import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface WithholdingProxy {
  readonly port: number;
  /** From now on, drops everything that this side sends, on every connection. */
  readonly withhold: (from: "client" | "server") => void;
  readonly withheldBytes: () => number;
  /** Connections stay open and new ones are accepted, and nothing gets through in either direction. */
  readonly hang: () => void;
  /** Forwards everything that was sent since `hang`, in order. */
  readonly resume: () => void;
  /** Closes every connection. New ones are forwarded again. */
  readonly cut: () => void;
  readonly close: () => void;
}

/** Filters the bytes of one connection before they are forwarded. */
export type Filter = (bytes: Buffer) => Buffer;

/** A TCP proxy. Each connection goes to the first of these ports that accepts it. The servers' bytes go through a filter. */
export async function startWithholdingProxy(
  ports: () => readonly number[],
  createFilter: () => Filter = () => (bytes) => bytes,
): Promise<WithholdingProxy> {
  const sockets = new Set<Socket>();
  let hangs = false;
  let withheldFrom: "client" | "server" | undefined;
  let withheldBytes = 0;

  const forward = (from: "client" | "server", source: Socket, target: Socket) => {
    const filter = from === "server" ? createFilter() : (bytes: Buffer) => bytes;
    sockets.add(source);
    source.on("data", (bytes) => {
      if (withheldFrom === from) withheldBytes += bytes.length;
      else target.write(filter(bytes));
    });
    source.on("error", () => target.destroy());
    source.on("close", () => {
      sockets.delete(source);
      target.destroy();
    });
    if (hangs) source.pause();
  };

  const connectToFirst = (client: Socket, [port, ...others]: readonly number[]) => {
    if (port === undefined) return client.destroy();
    const server = connect({ port, host: "127.0.0.1", noDelay: true });
    const next = () => connectToFirst(client, others);
    server.once("error", next);
    server.once("connect", () => {
      server.off("error", next);
      forward("client", client, server);
      forward("server", server, client);
    });
  };

  const cut = () => {
    withheldFrom = undefined;
    withheldBytes = 0;
    for (const socket of sockets) socket.destroy();
  };
  const listener = createServer({ noDelay: true }, (client) => {
    client.on("error", () => client.destroy());
    connectToFirst(client, ports());
  }).listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  return {
    port: typeof address === "object" && address ? address.port : 0,
    withhold: (from) => {
      withheldFrom = from;
    },
    withheldBytes: () => withheldBytes,
    hang: () => {
      hangs = true;
      for (const socket of sockets) socket.pause();
    },
    resume: () => {
      hangs = false;
      for (const socket of sockets) socket.resume();
    },
    cut,
    close: () => {
      listener.close();
      cut();
    },
  };
}
