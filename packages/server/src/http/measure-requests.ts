import { operationKeys, routeOf } from "@perch/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Telemetry } from "../telemetry/telemetry.ts";

/** Fastify's name of an operation's route. */
export const routeUrl = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ":$1");

const health = ["GET /healthz", "GET /readyz"];

/** What requests are counted under: the contract's operations, and the two health pages. */
export const measuredOperations: readonly string[] = [...operationKeys, ...health];

const operationOfRoute = new Map(
  operationKeys.map((key) => {
    const { method, path } = routeOf(key);
    return [`${method} ${routeUrl(path)}`, key as string];
  }),
);
for (const key of health) operationOfRoute.set(key, key);

const operationOf = ({ method, routeOptions }: FastifyRequest): string =>
  operationOfRoute.get(`${method === "HEAD" ? "GET" : method} ${routeOptions.url}`) ?? "unknown";

const isStream = (contentType: unknown): boolean =>
  typeof contentType === "string" && contentType.startsWith("text/event-stream");

/**
 * Every request once, when its answer is out or its client has left. Fastify's own hooks miss a client that leaves after
 * its body was read, as every reader of a stream that began with a POST does.
 */
export function measureRequests(app: FastifyInstance, { requestEnded }: Pick<Telemetry, "requestEnded">): void {
  app.addHook("onRequest", (request, { raw }, done) => {
    const startedAt = performance.now();
    raw.on("close", () => {
      const operation = operationOf(request);
      if (!raw.writableFinished) return requestEnded(operation, "left");
      if (isStream(raw.getHeader("content-type"))) return requestEnded(operation, raw.statusCode);
      requestEnded(operation, raw.statusCode, (performance.now() - startedAt) / 1000);
    });
    done();
  });
}
