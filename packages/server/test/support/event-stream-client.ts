import { EventSourceParserStream } from "eventsource-parser/stream";

export interface StreamEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: Record<string, unknown>;
  /** When it arrived, in milliseconds since the request. */
  readonly atMs: number;
}

export interface OpenStream {
  readonly status: number;
  readonly headers: Headers;
  readonly text: () => Promise<string>;
  /** Events as they arrive, until the response ends or is aborted. */
  readonly events: () => AsyncGenerator<StreamEvent>;
  readonly readAll: () => Promise<StreamEvent[]>;
  /** Closes the connection as a client that disconnects does. */
  readonly abort: () => void;
}

interface StreamOptions {
  readonly agent?: string;
  readonly headers?: Record<string, string | undefined>;
}

async function openStream(url: string, init: RequestInit & { headers: Record<string, string> }): Promise<OpenStream> {
  const startedAt = performance.now();
  const controller = new AbortController();
  const response = await fetch(url, {
    ...init,
    headers: { accept: "text/event-stream", ...init.headers },
    signal: controller.signal,
  });
  async function* events(): AsyncGenerator<StreamEvent> {
    try {
      const parsed = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
      for await (const { id, event = "", data } of parsed ?? [])
        yield { id, event, data: JSON.parse(data), atMs: performance.now() - startedAt };
    } catch (error) {
      if (!controller.signal.aborted) throw error;
    }
  }
  return {
    status: response.status,
    headers: response.headers,
    text: () => response.text(),
    events,
    readAll: async () => {
      const received: StreamEvent[] = [];
      for await (const event of events()) received.push(event);
      return received;
    },
    abort: () => controller.abort(),
  };
}

const defined = (headers: StreamOptions["headers"] = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined));

/** Invokes and follows the run. */
export const invokeStreaming = (
  node: { url: string },
  apiKey: string,
  body: object,
  { agent = "bot", headers }: StreamOptions = {},
) =>
  openStream(`${node.url}/v1/agents/${agent}/invoke`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", ...defined(headers) },
    body: JSON.stringify(body),
  });

/** Follows a run that was started before. */
export const followRunStream = (node: { url: string }, apiKey: string, location: string, lastEventId?: string) =>
  openStream(node.url + location, {
    headers: { authorization: `Bearer ${apiKey}`, ...defined({ "last-event-id": lastEventId }) },
  });

/** The text that a client assembles from the token events: that of the last step, each token at its offset. */
export function joinTokens(events: readonly StreamEvent[]): string {
  let step = 0;
  let text = "";
  for (const { event, data } of events) {
    if (event !== "token") continue;
    if (data.step !== step) text = "";
    step = data.step as number;
    text = text.slice(0, data.offset as number) + String(data.text);
  }
  return text;
}

/** Reads events until `isDone` returns true, then aborts the request. */
export async function readEventsUntil(
  stream: OpenStream,
  isDone: (events: readonly StreamEvent[]) => boolean,
): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  for await (const event of stream.events()) {
    events.push(event);
    if (isDone(events)) break;
  }
  stream.abort();
  return events;
}
