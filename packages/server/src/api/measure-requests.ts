import type { OperationKey } from "@perch/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { measuredOperations, type Telemetry } from "../telemetry/telemetry.ts";
import type { OnRequestEnded } from "./request-ended.ts";

/** A path, or a whole operation key, with its parameters as Fastify writes them. */
export const routeUrl = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ":$1");

const operationOfRoute = new Map(measuredOperations.map((key) => [routeUrl(key), key]));

declare module "fastify" {
  interface FastifyRequest {
    /** Null until the request has got as far as its operation, and for pages and probes. */
    operation: OperationKey | null;
  }
}

const operationOf = (request: FastifyRequest): string => {
  // Fastify makes `routeOptions` anew whenever it is read.
  if (request.operation !== null) return request.operation;
  const { method, routeOptions } = request;
  return operationOfRoute.get(`${method === "HEAD" ? "GET" : method} ${routeOptions.url}`) ?? "unknown";
};

export function measureRequests(
  app: FastifyInstance,
  { requestEnded }: Pick<Telemetry, "requestEnded">,
): OnRequestEnded {
  app.decorateRequest("operation", null);
  return (request, { status, ms, isStream }) => {
    const operation = operationOf(request);
    if (status === undefined) requestEnded(operation, "client_closed");
    else if (isStream) requestEnded(operation, status);
    else requestEnded(operation, status, ms / 1000);
  };
}
