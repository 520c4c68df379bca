import { once } from "node:events";
import { createServer, type Http2Session } from "node:http2";
import * as restate from "@restatedev/restate-sdk";
import type { Logger } from "../platform/logger.ts";
import { withJournal } from "./journal.ts";

interface EndpointOptions {
  readonly services: Parameters<ReturnType<typeof restate.endpoint>["bind"]>[0][];
  /** Public keys of engines that may call; any may, where there is none. */
  readonly identityKeys: readonly string[];
  readonly host: string;
  readonly port: number;
  readonly logger: Logger;
}

export interface Endpoint {
  readonly port: number;
  /** Takes no more steps; running invocations continue on another worker after their last completed step. */
  readonly close: () => Promise<void>;
}

/** Serves the workflows to the engine over HTTP/2. */
export async function serveEndpoint({
  services,
  identityKeys,
  host,
  port,
  logger,
}: EndpointOptions): Promise<Endpoint> {
  const endpoint = restate.endpoint();
  for (const service of services) endpoint.bind(service);
  if (identityKeys.length > 0) endpoint.withIdentityV1(...identityKeys);
  endpoint.setLogger(({ level, context }, message, ...rest) => {
    const write = level === "error" ? logger.warn : logger.debug;
    write.call(logger, { invocation: context?.invocationId, rest: rest.map(String) }, String(message));
  });
  const handle = endpoint.http2Handler();
  const server = createServer((request, response) => withJournal(request, () => handle(request, response)));
  const sessions = new Set<Http2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : port,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const session of sessions) session.close();
      await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 5000).unref())]);
      for (const session of sessions) session.destroy();
    },
  };
}
