import { type OperationKey, routeOf } from "@perch/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { toPublicId } from "../platform/ids.ts";
import type { TraceParent } from "../platform/trace-parent.ts";
import { newSpanId, newTraceId, parseTraceparent } from "../telemetry/trace-context.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import type { OnRequestEnded } from "./request-ended.ts";

interface RequestTrace {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | null;
  readonly startMs: number;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Null if the request is not traced. */
    trace: RequestTrace | null;
  }
  interface FastifyContextConfig {
    operation?: OperationKey;
  }
}

/** Continues the caller's trace; null if its `traceparent` marks this request as not sampled. */
function startTrace(header: string | string[] | undefined): RequestTrace | null {
  const given = parseTraceparent(typeof header === "string" ? header : undefined);
  if (given && !given.sampled) return null;
  const { traceId, parentId } = given ?? { traceId: newTraceId(), parentId: null };
  return { traceId, parentId, spanId: newSpanId(), startMs: Date.now() };
}

/** The parent span of a run that this request starts. */
export const traceParentOf = ({ trace }: FastifyRequest): TraceParent | null =>
  trace && { traceId: trace.traceId, parentId: trace.spanId };

/** Records a span for each request to an operation, if tracing is on. Health checks and pages get none. */
export function traceRequests(app: FastifyInstance, tracing: Tracing): OnRequestEnded[] {
  app.decorateRequest("trace", null);
  if (!tracing.isOn) return [];
  app.addHook("onRequest", (request, _, done) => {
    if (request.routeOptions.config.operation) request.trace = startTrace(request.headers.traceparent);
    done();
  });
  const recordSpan: OnRequestEnded = (request, { status }) => {
    const { trace, admitted } = request;
    const { operation } = request.routeOptions.config;
    if (!trace || !operation) return;
    const failed = status !== undefined && status >= 500;
    tracing.add({
      ...trace,
      name: operation,
      kind: "server",
      endMs: Date.now(),
      failed,
      attributes: {
        "http.request.method": request.method,
        "http.route": routeOf(operation).path,
        "http.response.status_code": status,
        "error.type": failed ? String(status) : status === undefined ? "client_closed" : undefined,
        "perch.correlation_id": request.id,
        "perch.organisation_id": admitted ? toPublicId("organisation", admitted.caller.organisation.id) : undefined,
      },
    });
  };
  return [recordSpan];
}
