import { connect as connectTcp, createServer } from "node:net";
import { connect as connectTls } from "node:tls";
import { loopback } from "./layout.ts";

export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, loopback, () => server.close(() => resolve(true)));
  });
}

interface Exchange {
  readonly url: URL;
  readonly defaultPort: number;
  readonly tls?: boolean;
}

/** Sends a greeting and returns the first bytes of the answer, or "" when there is none within two seconds. */
export function exchange({ url, defaultPort, tls = false }: Exchange, greeting: string | Uint8Array): Promise<string> {
  const target = { host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port || defaultPort) };
  return new Promise((resolve) => {
    const socket = tls ? connectTls(target) : connectTcp(target);
    const finish = (answer: string) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(2000, () => finish(""));
    socket.once("error", () => finish(""));
    socket.once("close", () => finish(""));
    socket.once("data", (data: Buffer) => finish(data.toString("latin1")));
    socket.write(greeting);
  });
}

export async function answersHttp(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
