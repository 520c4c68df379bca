import { ConnectionError, PerchError } from "./errors.ts";
import { readEvents, type SentEvent } from "./read-events.ts";
import { waitBeforeMs } from "./retry-rules.ts";
import type { OpenStream } from "./send.ts";
import { sleep } from "./time-limits.ts";

/** A stream of events that can be opened again. */
export interface Source {
  readonly open: (lastEventId: string | undefined) => Promise<OpenStream>;
  readonly maxRetries: number;
  readonly signal: AbortSignal | undefined;
  /** Where to begin. */
  readonly lastEventId?: string | undefined;
  readonly onOpen?: (stream: OpenStream) => void;
  /** Bytes came: the connection lives. */
  readonly onBytes?: () => void;
  /** For a stream that does not go on where it was: what was missed, asked for after each coming back. */
  readonly catchUp?: () => Promise<SentEvent[]>;
}

/** Three heartbeats without a byte: the connection is gone, whatever it says. */
const silenceMs = 45_000;

async function* readOnce(source: Source, stream: OpenStream, onAlive: () => void): AsyncGenerator<SentEvent, void> {
  const onBytes = (): void => {
    stream.watch.restart(silenceMs);
    source.onBytes?.();
  };
  try {
    stream.watch.restart(silenceMs);
    yield* readEvents(stream.body, { onBytes, onComment: onAlive });
  } catch (error) {
    throw stream.failureOf(error);
  } finally {
    stream.watch.stop();
  }
}

/** The connection is open meanwhile, so that nothing falls between the two. */
async function caughtUp(catchUp: NonNullable<Source["catchUp"]>, stream: OpenStream): Promise<SentEvent[]> {
  try {
    return await catchUp();
  } catch (error) {
    stream.watch.stop();
    stream.body.cancel().catch(() => undefined);
    throw error;
  }
}

/**
 * Events without end, over as many connections as it takes. It gives up after `maxRetries` failures without an event or a heartbeat between them: a long
 * run may outlive many connections. An event without an id tells of a failure of the node that served it, so it ends the connection and nothing else.
 */
export async function* follow(source: Source): AsyncGenerator<SentEvent, void> {
  let { lastEventId } = source;
  let failures = 0;
  let isBack = false;
  const onAlive = (): void => {
    failures = 0;
  };
  for (;;) {
    let failure: PerchError;
    try {
      const stream = await source.open(lastEventId);
      source.onOpen?.(stream);
      if (isBack && source.catchUp) yield* await caughtUp(source.catchUp, stream);
      isBack = true;
      for await (const event of readOnce(source, stream, onAlive)) {
        if (event.id === undefined) break;
        onAlive();
        lastEventId = event.id;
        yield event;
      }
      failure = new ConnectionError({ code: "connection_failed", message: "The stream ended before its last event." });
    } catch (error) {
      if (!(error instanceof PerchError)) throw error;
      failure = error;
    }
    const waitMs = failures < source.maxRetries ? waitBeforeMs(failure, failures, Math.random()) : undefined;
    if (waitMs === undefined) throw failure;
    failures++;
    await sleep(waitMs, source.signal);
  }
}
