import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Logger } from "../platform/logger.ts";
import type { ShutdownStep } from "../platform/shutdown.ts";
import type { Telemetry } from "./telemetry.ts";

interface ServeOptions extends Pick<Telemetry, "read"> {
  readonly host: string;
  readonly port: number;
  readonly logger: Logger;
}

/** `GET /metrics` for operators, on a port of its own that needs no key. Returns its shutdown step. */
export async function serveMetrics({ read, host, port, logger }: ServeOptions): Promise<ShutdownStep> {
  const handleRequest = async ({ method, url }: IncomingMessage, response: ServerResponse): Promise<void> => {
    if ((method !== "GET" && method !== "HEAD") || url?.split("?")[0] !== "/metrics") {
      response
        .writeHead(404, { "content-type": "text/plain; charset=utf-8" })
        .end("There is only GET /metrics here.\n");
      return;
    }
    const { contentType, text } = await read();
    response.writeHead(200, { "content-type": contentType, "cache-control": "no-store" }).end(text);
  };
  const server = createServer((request, response) => {
    handleRequest(request, response).catch((error: unknown) => {
      logger.error({ err: error }, "metrics read failed");
      response.destroy();
    });
  });
  server.listen(port, host);
  await once(server, "listening");
  return {
    name: "stop serving metrics",
    limitSeconds: 2,
    run: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
