import { once } from "node:events";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";

interface SentValue {
  readonly stringValue?: string;
  readonly intValue?: number | string;
}

interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code: number };
  readonly attributes: readonly { readonly key: string; readonly value: SentValue }[];
}

interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: Pick<SentSpan, "attributes">;
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

export interface Span extends Pick<SentSpan, "traceId" | "spanId" | "name"> {
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
  { traceId, spanId, parentSpanId, name, kind, status, attributes, ...times }: SentSpan,
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
  /** Everything that came, as it came. */
  readonly text: () => string;
  readonly spans: () => readonly Span[];
  /** How many batches were offered, taken or not. */
  readonly offered: () => number;
  readonly behave: (how: "take" | "refuse" | "hang" | "away") => void;
  readonly close: () => void;
}

/** Takes traces as OTLP over HTTP, in JSON, as a real collector does. */
export async function startSpanCollector(): Promise<SpanCollector> {
  const received: Sent[] = [];
  let offered = 0;
  let behaviour: Parameters<SpanCollector["behave"]>[0] = "take";
  const server = createServer((request, response) => {
    offered++;
    if (behaviour === "hang") return;
    if (behaviour === "away") return void request.socket.destroy();
    if (request.url !== "/v1/traces" || behaviour === "refuse") return void response.writeHead(400).end();
    void json(request).then((body) => {
      received.push(body as Sent);
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
    offered: () => offered,
    behave: (how) => {
      behaviour = how;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
