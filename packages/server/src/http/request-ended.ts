import type { FastifyInstance, FastifyRequest } from "fastify";

/** How a request ended. */
export interface RequestEnd {
  /** Undefined: the client left before its answer was out. */
  readonly status: number | undefined;
  readonly ms: number;
  /** The answer was a stream of events, whose time says nothing about us. */
  readonly isStream: boolean;
}

export type OnRequestEnded = (request: FastifyRequest, end: RequestEnd) => void;

const isEventStream = (contentType: unknown): boolean =>
  typeof contentType === "string" && contentType.startsWith("text/event-stream");

/**
 * Tells of every request once, when its answer is out or its client has left. Fastify's own hooks miss a client that leaves after
 * its body was read, as every reader of a stream that began with a POST does.
 */
export function watchRequests(app: FastifyInstance, listeners: readonly OnRequestEnded[]): void {
  app.addHook("onRequest", (request, { raw }, done) => {
    const startedAt = performance.now();
    raw.once("close", () => {
      const end = {
        status: raw.writableFinished ? raw.statusCode : undefined,
        ms: performance.now() - startedAt,
        isStream: isEventStream(raw.getHeader("content-type")),
      };
      for (const tell of listeners) tell(request, end);
    });
    done();
  });
}
