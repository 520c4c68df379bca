import { type Operation, operationKeys, operations, routeOf } from "@perch/contract";
import type { FastifyInstance } from "fastify";
import type { Caller, Handlers, RequestContext } from "../handlers.ts";
import { type Authenticate, authorize } from "./authenticate.ts";
import { parseInput } from "./parse-input.ts";

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | null;
  }
}

type AnyHandler = (input: unknown, context: RequestContext) => Promise<unknown>;

interface BindOptions {
  readonly handlers: Handlers;
  readonly authenticate: Authenticate;
}

/** The only place that knows both the contract and Fastify: one route for each operation of the table. */
export function bindOperations(app: FastifyInstance, { handlers, authenticate }: BindOptions): void {
  app.decorateRequest("caller", null);
  for (const key of operationKeys) {
    const operation: Operation = operations[key];
    const handler = handlers[key] as AnyHandler;
    const { method, path } = routeOf(key);
    app.route({
      method,
      url: path.replaceAll(/\{(\w+)\}/g, ":$1"),
      // Before the body is read: a stranger's megabyte is not worth parsing.
      onRequest: async (request) => {
        request.caller = await authenticate(request.headers.authorization);
        authorize(request.caller, operation.permission);
      },
      handler: async (request, reply) => {
        const { caller } = request;
        if (!caller) throw new Error(`${key} ran without a caller`);
        const input = parseInput(operation, request);
        const scope = { organisationId: caller.organisation.id, agentId: caller.agentId };
        const result = await handler(input, { requestId: request.id, caller, scope });
        return reply.code(operation.status).send(result);
      },
    });
  }
}
