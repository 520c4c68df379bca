import { createServer, type Server, type Socket } from "node:net";
import {
  authenticationOk,
  fatalError,
  isIdle,
  maxMessageBytes,
  ProtocolError,
  parseMessageGroup,
  parseStartupMessage,
  terminate,
} from "./wire-messages.ts";

/** One PostgreSQL backend. `become` sets the user of the next messages. */
export interface Backend {
  readonly execute: (message: Uint8Array) => Promise<Uint8Array>;
  readonly become: (user: string) => Promise<void>;
  readonly rollBack: () => Promise<void>;
}

/** A fair mutex: one owner at a time, in order of arrival. */
function createMutex() {
  let last = Promise.resolve();
  return (): Promise<() => void> => {
    const before = last;
    let release = () => {};
    last = new Promise((resolve) => {
      release = resolve;
    });
    return before.then(() => release);
  };
}

/**
 * Many connections share one backend: a client owns it from its first message to the end of its transaction, and all
 * others wait meanwhile.
 */
async function serveClient(socket: Socket, backend: Backend, acquire: () => Promise<() => void>): Promise<void> {
  let pending: Buffer = Buffer.alloc(0);
  let user: string | undefined;
  let release: (() => void) | undefined;

  const handleStartup = (): boolean => {
    const parsed = parseStartupMessage(pending);
    if (!parsed) return false;
    pending = parsed.rest;
    if (parsed.found.kind === "encryption") socket.write("N");
    else if (parsed.found.kind === "cancel") socket.end();
    else {
      user = parsed.found.user;
      socket.write(authenticationOk);
    }
    return true;
  };

  const answer = async (messages: readonly Buffer[], as: string): Promise<void> => {
    if (!release) {
      release = await acquire();
      await backend.become(as);
    }
    const parts: Uint8Array[] = [];
    for (const message of messages) parts.push(await backend.execute(message));
    const whole = Buffer.concat(parts);
    if (isIdle(whole)) {
      release();
      release = undefined;
    }
    if (socket.writable) socket.write(whole);
  };

  try {
    // Not destroyed when the loop is left, so that a last message can be sent.
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      while (user === undefined && handleStartup());
      if (user === undefined) continue;
      for (let parsed = parseMessageGroup(pending); parsed; parsed = parseMessageGroup(pending)) {
        pending = parsed.rest;
        if (parsed.found.at(-1)?.[0] === terminate) return void socket.end();
        await answer(parsed.found, user);
      }
      // Many small messages without a Sync use as much memory as one large message.
      if (pending.length > 2 * maxMessageBytes) throw new ProtocolError("Too many messages without a Sync");
    }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    socket.end(fatalError(error.message));
  } finally {
    if (release) {
      await backend.rollBack();
      release();
    }
    socket.destroySoon();
  }
}

export interface Bridge {
  readonly port: number;
  readonly close: () => Promise<void>;
}

export async function startBridge(backend: Backend, port: number): Promise<Bridge> {
  const acquire = createMutex();
  const open = new Set<Socket>();
  const server: Server = createServer({ noDelay: true }, (socket) => {
    open.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => open.delete(socket));
    serveClient(socket, backend, acquire).catch(() => socket.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : port,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of open) socket.destroy();
      await closed;
      // Wait until clients with an open transaction have rolled back.
      (await acquire())();
    },
  };
}
