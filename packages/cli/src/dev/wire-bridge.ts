import { createServer, type Server, type Socket } from "node:net";
import { authenticationOk, isIdle, parseMessageGroup, parseStartupMessage, terminate } from "./wire-messages.ts";

/** One PostgreSQL backend: what it is asked, and in whose name. */
export interface Backend {
  readonly execute: (message: Uint8Array) => Promise<Uint8Array>;
  readonly become: (user: string) => Promise<void>;
  readonly rollBack: () => Promise<void>;
}

/** Lets one holder in at a time, in the order they came. */
function createTurns() {
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
 * Many connections to one backend: a client has it from its first message to the end of its transaction, then the next client does.
 * So a client in a transaction keeps all others waiting, as a lock on everything would.
 */
async function serveClient(socket: Socket, backend: Backend, takeTurn: () => Promise<() => void>): Promise<void> {
  let pending: Buffer = Buffer.alloc(0);
  let user: string | undefined;
  let release: (() => void) | undefined;

  const greet = (): boolean => {
    const cut = parseStartupMessage(pending);
    if (!cut) return false;
    pending = cut.rest;
    if (cut.found.kind === "encryption") socket.write("N");
    else if (cut.found.kind === "cancel") socket.end();
    else {
      user = cut.found.user;
      socket.write(authenticationOk);
    }
    return true;
  };

  const answer = async (messages: readonly Buffer[], as: string): Promise<void> => {
    if (!release) {
      release = await takeTurn();
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
    for await (const chunk of socket) {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      while (user === undefined && greet());
      if (user === undefined) continue;
      for (let cut = parseMessageGroup(pending); cut; cut = parseMessageGroup(pending)) {
        pending = cut.rest;
        if (cut.found.at(-1)?.[0] === terminate) return void socket.end();
        await answer(cut.found, user);
      }
    }
  } finally {
    if (release) {
      await backend.rollBack();
      release();
    }
    socket.destroy();
  }
}

export interface Bridge {
  readonly port: number;
  readonly close: () => Promise<void>;
}

export async function startBridge(backend: Backend, port: number): Promise<Bridge> {
  const takeTurn = createTurns();
  const open = new Set<Socket>();
  const server: Server = createServer({ noDelay: true }, (socket) => {
    open.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => open.delete(socket));
    serveClient(socket, backend, takeTurn).catch(() => socket.destroy());
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
      // Whoever was in the middle of something has rolled back when the turn comes to us.
      (await takeTurn())();
    },
  };
}
