import type { FastifyRequest } from "fastify";
import { measuredOperations, type Telemetry } from "../telemetry/telemetry.ts";
import type { OnRequestEnded } from "./request-ended.ts";

/** A path, or a whole operation key, with its parameters as Fastify writes them. */
export const routeUrl = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ":$1");

const operationOfRoute = new Map(measuredOperations.map((key) => [routeUrl(key), key]));

const operationOf = ({ method, routeOptions }: FastifyRequest): string =>
  operationOfRoute.get(`${method === "HEAD" ? "GET" : method} ${routeOptions.url}`) ?? "unknown";

export const measureRequests =
  ({ requestEnded }: Pick<Telemetry, "requestEnded">): OnRequestEnded =>
  (request, { status, ms, isStream }) => {
    const operation = operationOf(request);
    if (status === undefined) requestEnded(operation, "client_closed");
    else if (isStream) requestEnded(operation, status);
    else requestEnded(operation, status, ms / 1000);
  };
