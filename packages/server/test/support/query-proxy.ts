import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/**
 * The point at which a client's conversation with PostgreSQL breaks off: before this query reaches the server, or
 * before its answer comes back.
 */
export interface Boundary {
  /** Counted from 0, over all connections. */
  readonly query: number;
  readonly side: "before" | "after";
}

export interface QueryProxy {
  /** The address of the database through the proxy. */
  readonly url: string;
  /** The texts of the queries that came so far. */
  readonly queries: readonly string[];
  readonly close: () => void;
}

interface Message {
  /** Empty for the first message of a connection, which has no type. */
  readonly type: string;
  readonly bytes: Buffer;
}

/** Splits the bytes of a client into the messages of PostgreSQL's protocol. */
function createMessageReader(): (chunk: Buffer) => Message[] {
  let rest: Buffer = Buffer.alloc(0);
  let isStarted = false;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    const messages: Message[] = [];
    for (;;) {
      const typeLength = isStarted ? 1 : 0;
      if (rest.length < typeLength + 4) return messages;
      const length = typeLength + rest.readUInt32BE(typeLength);
      if (rest.length < length) return messages;
      messages.push({ type: rest.toString("latin1", 0, typeLength), bytes: rest.subarray(0, length) });
      rest = rest.subarray(length);
      isStarted = true;
    }
  };
}

/** A Query has its text, a Parse the statement's name before it. */
const textOf = ({ type, bytes }: Message): string => bytes.toString("utf8", 5).split("\0")[type === "Q" ? 0 : 1] ?? "";

/** The messages of a statement with parameters. They are buffered until its Sync and forwarded as one query. */
const extendedTypes = ["P", "B", "D", "E", "S"];

/**
 * A TCP proxy before PostgreSQL that counts queries exactly. From the boundary on it forwards nothing in either
 * direction, and it calls `onBoundary`, which ends the client. To the server, this looks like a killed client: its
 * connection is closed.
 */
export async function startQueryProxy(
  databaseUrl: string,
  boundary?: Boundary,
  onBoundary: () => void = () => {},
): Promise<QueryProxy> {
  const target = new URL(databaseUrl);
  const queries: string[] = [];
  const sockets = new Set<Socket>();
  let isCut = false;

  const cut = () => {
    isCut = true;
    onBoundary();
  };

  const forwardQuery = (text: string, bytes: Buffer, server: Socket) => {
    const index = queries.push(text) - 1;
    if (index === boundary?.query && boundary.side === "before") return cut();
    server.write(bytes);
    if (index === boundary?.query) cut();
  };

  const listener = createServer({ noDelay: true }, (client) => {
    const server = connect({ port: Number(target.port), host: target.hostname, noDelay: true });
    const read = createMessageReader();
    let group: Message[] = [];
    const forward = (message: Message) => {
      if (isCut) return;
      if (message.type === "Q") return forwardQuery(textOf(message), message.bytes, server);
      if (!extendedTypes.includes(message.type)) return void server.write(message.bytes);
      group.push(message);
      if (message.type !== "S") return;
      const text = group.find(({ type }) => type === "P");
      forwardQuery(text ? textOf(text) : "", Buffer.concat(group.map(({ bytes }) => bytes)), server);
      group = [];
    };
    client.on("data", (chunk) => {
      for (const message of read(chunk)) forward(message);
    });
    server.on("data", (chunk) => void (isCut || client.write(chunk)));
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    }
    // An orderly end: the server first reads everything that was sent before it.
    client.on("close", () => server.end());
    server.on("close", () => client.destroy());
  }).listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
  return {
    url: url.href,
    queries,
    close: () => {
      listener.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
