import { once } from "node:events";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";

interface OtlpValue {
  readonly stringValue?: string;
  readonly intValue?: number | string;
}

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code: number };
  readonly attributes: readonly { readonly key: string; readonly value: OtlpValue }[];
}

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: Pick<OtlpSpan, "attributes">;
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

export interface Span extends Pick<OtlpSpan, "traceId" | "spanId" | "name"> {
  readonly parentId: string | undefined;
  /** Which process sent it. */
  readonly instance: string | undefined;
  readonly kind: "internal" | "server" | "client";
  readonly failed: boolean;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
}

const kinds = ["internal", "internal", "server", "client"] as const;

const toSpan = (
  { traceId, spanId, parentSpanId, name, kind, status, attributes, ...times }: OtlpSpan,
  instance: string | undefined,
): Span => ({
  traceId,
  spanId,
  parentId: parentSpanId,
  instance,
  name,
  kind: kinds[kind] ?? "internal",
  failed: status.code === 2,
  startMs: Number(times.startTimeUnixNano) / 1e6,
  endMs: Number(times.endTimeUnixNano) / 1e6,
  attributes: Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)] as const),
  ),
});

export interface SpanCollector {
  readonly url: string;
  /** Everything that was received, as JSON. */
  readonly text: () => string;
  readonly spans: () => readonly Span[];
  /** How many batches arrived, accepted or not. */
  readonly batchesReceived: () => number;
  readonly setBehaviour: (behaviour: "accept" | "refuse" | "hang" | "disconnect") => void;
  readonly close: () => void;
}

/** Accepts traces as OTLP over HTTP, in JSON, as a real collector does. */
export async function startSpanCollector(): Promise<SpanCollector> {
  const received: OtlpRequest[] = [];
  let batchesReceived = 0;
  let behaviour: Parameters<SpanCollector["setBehaviour"]>[0] = "accept";
  const server = createServer((request, response) => {
    batchesReceived++;
    if (behaviour === "hang") return;
    if (behaviour === "disconnect") return void request.socket.destroy();
    if (request.url !== "/v1/traces" || behaviour === "refuse") return void response.writeHead(400).end();
    void json(request).then((body) => {
      received.push(body as OtlpRequest);
      response.setHeader("content-type", "application/json").end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`,
    text: () => JSON.stringify(received),
    spans: () =>
      received
        .flatMap(({ resourceSpans }) => resourceSpans)
        .flatMap(({ resource, scopeSpans }) => {
          const instance = resource.attributes.find(({ key }) => key === "service.instance.id")?.value.stringValue;
          return scopeSpans.flatMap(({ spans }) => spans.map((span) => toSpan(span, instance)));
        }),
    batchesReceived: () => batchesReceived,
    setBehaviour: (next) => {
      behaviour = next;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
