import type { FastifyInstance, FastifyRequest } from "fastify";

/** How a request ended. */
export interface RequestEnd {
  /** Undefined: the client closed the connection before the response was complete. */
  readonly status: number | undefined;
  readonly ms: number;
  /** The response was an event stream, whose duration depends on the client. */
  readonly isStream: boolean;
}

export type OnRequestEnded = (request: FastifyRequest, end: RequestEnd) => void;

const isEventStream = (contentType: unknown): boolean =>
  typeof contentType === "string" && contentType.startsWith("text/event-stream");

/**
 * Calls the listeners once for each request, when its response is complete or its client has closed the connection. Fastify's own
 * hooks miss a client that closes after the request body was read, which is how every stream begun with a POST ends.
 */
export function watchRequests(app: FastifyInstance, listeners: readonly OnRequestEnded[]): void {
  app.addHook("onRequest", (request, { raw }, done) => {
    const startedAt = performance.now();
    // A response closes once, so nothing has to count.
    raw.on("close", () => {
      const end = {
        status: raw.writableFinished ? raw.statusCode : undefined,
        ms: performance.now() - startedAt,
        isStream: isEventStream(raw.getHeader("content-type")),
      };
      for (const listener of listeners) listener(request, end);
    });
    done();
  });
}
