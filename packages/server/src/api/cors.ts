import cors from "@fastify/cors";
import type { FastifyInstance, FastifyRequest } from "fastify";

const methods = ["GET", "POST", "PATCH", "DELETE"];

const allowedHeaders = [
  "authorization",
  "content-type",
  "idempotency-key",
  "if-match",
  "last-event-id",
  "prefer",
  "x-mfa-code",
  "x-correlation-id",
  "x-user-token",
];

const exposedHeaders = [
  "etag",
  "x-correlation-id",
  "retry-after",
  "idempotent-replayed",
  "location",
  "preference-applied",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "ratelimit",
  "ratelimit-policy",
  "deprecation",
  "sunset",
  "link",
];

const maxAge = 600;

/** Whether a sandboxed page made this request to the API. Forms of our own pages may name no origin either. */
export const isOfSandboxedPage = ({ url, headers }: Pick<FastifyRequest, "url" | "headers">): boolean =>
  headers.origin === "null" && url.startsWith("/v1/");

/**
 * The page at `/docs` is sandboxed, and a page of any site can be. So all of these may call the API, without cookies:
 * they can do what a program with the same key can, except at addresses of a list, see `createTransportCheck`.
 */
function answerSandboxedPages(app: FastifyInstance): void {
  app.addHook("onRequest", (request, reply, done) => {
    const { method, headers } = request;
    if (!isOfSandboxedPage(request)) return done();
    reply.headers({ "access-control-allow-origin": "null", "access-control-expose-headers": exposedHeaders.join() });
    if (method !== "OPTIONS" || headers["access-control-request-method"] === undefined) return done();
    reply
      .code(204)
      .headers({
        "access-control-allow-methods": methods.join(),
        "access-control-allow-headers": allowedHeaders.join(),
        "access-control-max-age": maxAge,
      })
      .send();
  });
}

/** Which pages of other origins may call the API, none of them with cookies. */
export async function allowOrigins(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  answerSandboxedPages(app);
  if (origins.length > 0)
    await app.register(cors, { methods, allowedHeaders, exposedHeaders, maxAge, origin: [...origins] });
}
