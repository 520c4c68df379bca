import { EventSourceParserStream } from "eventsource-parser/stream";

export interface SeenEvent {
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
  /** Events as they come, until the response ends or is cut. */
  readonly events: () => AsyncGenerator<SeenEvent>;
  readonly all: () => Promise<SeenEvent[]>;
  /** The client goes away in the middle. */
  readonly cut: () => void;
}

interface Asked {
  readonly agent?: string;
  readonly headers?: Record<string, string | undefined>;
}

async function open(url: string, init: RequestInit & { headers: Record<string, string> }): Promise<OpenStream> {
  const startedAt = performance.now();
  const stop = new AbortController();
  const response = await fetch(url, {
    ...init,
    headers: { accept: "text/event-stream", ...init.headers },
    signal: stop.signal,
  });
  async function* events(): AsyncGenerator<SeenEvent> {
    try {
      const parsed = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
      for await (const { id, event = "", data } of parsed ?? [])
        yield { id, event, data: JSON.parse(data), atMs: performance.now() - startedAt };
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    }
  }
  return {
    status: response.status,
    headers: response.headers,
    text: () => response.text(),
    events,
    all: async () => {
      const seen: SeenEvent[] = [];
      for await (const event of events()) seen.push(event);
      return seen;
    },
    cut: () => stop.abort(),
  };
}

const defined = (headers: Asked["headers"] = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined));

/** Invokes and follows the run. */
export const streamAt = (node: { url: string }, apiKey: string, body: object, { agent = "bot", headers }: Asked = {}) =>
  open(`${node.url}/v1/agents/${agent}/invoke`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", ...defined(headers) },
    body: JSON.stringify(body),
  });

/** Follows a run that was started before. */
export const followAt = (node: { url: string }, apiKey: string, location: string, lastEventId?: string) =>
  open(node.url + location, {
    headers: { authorization: `Bearer ${apiKey}`, ...defined({ "last-event-id": lastEventId }) },
  });

/** What a client has that follows the rule of the tokens: the text of the last step. */
export function textOf(events: readonly SeenEvent[]): string {
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

/** Reads until `enough` says so, then goes away. */
export async function takeUntil(
  stream: OpenStream,
  enough: (seen: readonly SeenEvent[]) => boolean,
): Promise<SeenEvent[]> {
  const seen: SeenEvent[] = [];
  for await (const event of stream.events()) {
    seen.push(event);
    if (enough(seen)) break;
  }
  stream.cut();
  return seen;
}
