import { operationKeys, routeOf } from "@perch/contract";
import type { FastifyRequest } from "fastify";
import type { Telemetry } from "../telemetry/telemetry.ts";
import type { OnRequestEnded } from "./request-ended.ts";

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

export const measureRequests =
  ({ requestEnded }: Pick<Telemetry, "requestEnded">): OnRequestEnded =>
  (request, { status, ms, isStream }) => {
    const operation = operationOf(request);
    if (status === undefined) requestEnded(operation, "client_closed");
    else if (isStream) requestEnded(operation, status);
    else requestEnded(operation, status, ms / 1000);
  };
