import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type HrTime, SpanKind, SpanStatusCode, TraceFlags } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { type Resource, resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from "@opentelemetry/sdk-trace";
import type { Logger } from "../platform/logger.ts";
import { type EndedSpan, noTracing, type Tracing } from "./tracing.ts";

interface TracingOptions {
  /** The address at which the collector accepts OTLP over HTTP. Undefined if tracing is off. */
  readonly url: string | undefined;
  readonly version: string;
  readonly logger: Logger;
}

const exportIntervalMs = 1000;
const exportTimeoutMs = 10_000;
const closeTimeoutMs = 2000;
/** About 8 MB, a second of a busy process. Spans that arrive while the queue is full are dropped. */
const maxQueuedSpans = 8192;

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

const hrTime = (ms: number): HrTime => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1_000_000)];

type Frame = Pick<ReadableSpan, "resource" | "instrumentationScope">;

/** The SDK's tracer generates random ids; ours are deterministic, so spans are built here. */
function toReadableSpan(span: EndedSpan, frame: Frame): ReadableSpan {
  const { traceId, spanId, parentId, name, kind, startMs, failed, attributes } = span;
  const endMs = Math.max(span.endMs, startMs);
  const contextOf = (id: string) => ({ traceId, spanId: id, traceFlags: TraceFlags.SAMPLED });
  const context = contextOf(spanId);
  return {
    ...frame,
    name,
    kind: kinds[kind],
    spanContext: () => context,
    ...(parentId !== null && { parentSpanContext: contextOf(parentId) }),
    startTime: hrTime(startMs),
    endTime: hrTime(endMs),
    duration: hrTime(endMs - startMs),
    ended: true,
    status: { code: failed ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes: Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined)),
    links: [],
    events: [],
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** Logs the first failed export, and the first that succeeds after it. */
function logExportFailures(exporter: SpanExporter, logger: Logger): SpanExporter {
  let wasFailing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        // 0 is success; the name for it is in a package that we need for nothing else.
        const failed = result.code !== 0;
        if (failed && !wasFailing)
          logger.warn({ spans: spans.length, why: result.error?.message }, "span export failed");
        if (!failed && wasFailing) logger.info("span export recovered");
        wasFailing = failed;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}

const resourceOf = (version: string): Resource =>
  resourceFromAttributes({
    "service.name": "perch",
    "service.version": version,
    "service.instance.id": randomUUID(),
  });

/** Sends spans in batches, in the background, to a collector that speaks OTLP. */
export function createTracing({ url, version, logger }: TracingOptions): Tracing {
  if (url === undefined) return noTracing;
  const exporter = logExportFailures(
    new OTLPTraceExporter({ url: `${url}/v1/traces`, timeoutMillis: exportTimeoutMs }),
    logger,
  );
  const processor = new BatchSpanProcessor({
    exporter,
    scheduledDelayMillis: exportIntervalMs,
    exportTimeoutMillis: exportTimeoutMs,
    maxQueueSize: maxQueuedSpans,
  });
  const frame = { resource: resourceOf(version), instrumentationScope: { name: "perch", version } };
  return {
    isOn: true,
    add: (span) => processor.onEnd(toReadableSpan(span, frame)),
    close: async () => {
      const sent = processor.shutdown().catch(() => undefined);
      await Promise.race([sent, sleep(closeTimeoutMs, undefined, { ref: false })]);
    },
  };
}
