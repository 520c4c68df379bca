import { ConnectionError, PerchError } from "./errors.ts";
import type { Log } from "./log.ts";
import { readEvents, type SentEvent } from "./read-events.ts";
import { retryDelayMs } from "./retry-rules.ts";
import type { OpenStream } from "./send.ts";
import { sleep } from "./time-limits.ts";

/** An event stream that can be reopened. */
export interface Source {
  readonly open: (lastEventId: string | undefined) => Promise<OpenStream>;
  readonly maxRetries: number;
  readonly signal: AbortSignal | undefined;
  readonly log: Log;
  /** Continue after this event. */
  readonly lastEventId?: string | undefined;
  readonly onOpen?: (stream: OpenStream) => void;
  /** Called with the comments that the server sends beside its events. */
  readonly onComment?: (comment: string) => void;
}

/** Three intervals of heartbeats. A connection without data for longer is dead. */
const idleTimeoutMs = 45_000;

async function* readOnce(source: Source, stream: OpenStream, onAlive: () => void): AsyncGenerator<SentEvent, void> {
  const onBytes = (): void => stream.watch.restart(idleTimeoutMs);
  const onComment = (comment: string): void => {
    onAlive();
    source.onComment?.(comment);
  };
  try {
    stream.watch.restart(idleTimeoutMs);
    yield* readEvents(stream.body, { onBytes, onComment });
  } catch (error) {
    throw stream.failed(error);
  } finally {
    stream.watch.stop();
  }
}

/**
 * Endless events, with reconnects. It gives up after `maxRetries` consecutive failures without an event or a heartbeat,
 * because a long run may outlive many connections. An event without an id means that the node failed, so it only ends
 * the connection.
 */
export async function* follow(source: Source): AsyncGenerator<SentEvent, void> {
  let { lastEventId } = source;
  let failures = 0;
  const onAlive = (): void => {
    failures = 0;
  };
  for (;;) {
    let failure: PerchError;
    try {
      const stream = await source.open(lastEventId);
      source.onOpen?.(stream);
      for await (const event of readOnce(source, stream, onAlive)) {
        if (event.id === undefined) break;
        onAlive();
        lastEventId = event.id;
        yield event;
      }
      const message = "The stream ended before its last event.";
      failure = new ConnectionError({ ...stream.origin, code: "connection_failed", message });
    } catch (error) {
      if (!(error instanceof PerchError)) throw error;
      failure = error;
    }
    const waitMs = failures < source.maxRetries ? retryDelayMs(failure, failures, Math.random()) : undefined;
    if (waitMs === undefined) throw failure;
    failures++;
    source.log.retry(failure, waitMs);
    await sleep(waitMs, source.signal);
  }
}
