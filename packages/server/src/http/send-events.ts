import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { EventStream, ServerEvent } from "../handlers.ts";

type EventsOf = EventStream["events"];

export type SendEvents = (
  request: FastifyRequest,
  reply: FastifyReply,
  stream: Pick<EventStream, "headers" | "events">,
) => FastifyReply;

interface SendEventsOptions {
  /** A comment after so much silence keeps proxies from closing the connection. */
  readonly heartbeatMs?: number;
  /** A reader that does not take what waits for it in this time is closed. */
  readonly stalledMs?: number;
  /** Then it ends, and whoever still wants it comes back, with a key that still counts. */
  readonly mostMs?: number;
  /** Given a way to ask how many streams are open. */
  readonly watch?: (open: () => number) => void;
}

const streamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // nginx would collect events before it passes them on.
  "x-accel-buffering": "no",
};

const encodeData = (event: string, data: unknown): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
const encode = ({ id, event, data }: ServerEvent): string => `id: ${id}\n${encodeData(event, data)}`;

interface BodyOptions extends Required<Omit<SendEventsOptions, "mostMs" | "watch">> {
  readonly events: EventsOf;
  /** Logs it, and says what the client is told. */
  readonly onFailure: (error: unknown) => { readonly code: string; readonly message: string };
}

/** Pulls the next event only when the last one went out, and has one timer: for the heartbeat, or for a reader that takes nothing. */
class EventBody extends Readable {
  readonly #options: BodyOptions;
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #isWanted = false;
  #onWanted = (): void => undefined;

  constructor(options: BodyOptions) {
    super({ highWaterMark: 1 });
    this.#options = options;
    // Also brings the headers out before there is any event.
    this.#say("retry: 1000\n\n");
    void this.#pump();
  }

  get isStalled(): boolean {
    return !this.#isWanted;
  }

  /** Ends now, whatever the events do. */
  finish(): void {
    this.#stop.abort();
    if (this.readableEnded || this.destroyed) return;
    this.push(null);
    this.#isWanted = false;
    this.#wait();
  }

  override _read(): void {
    if (this.#isWanted) return;
    this.#isWanted = true;
    this.#wait();
    this.#onWanted();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#timer);
    this.#stop.abort();
    this.#onWanted();
    done(error);
  }

  readonly #heartbeat = (): void => this.#say(": heartbeat\n\n");
  readonly #giveUp = (): void => void this.destroy();

  #wait(): void {
    clearTimeout(this.#timer);
    const { heartbeatMs, stalledMs } = this.#options;
    this.#timer = this.#isWanted ? setTimeout(this.#heartbeat, heartbeatMs) : setTimeout(this.#giveUp, stalledMs);
  }

  #say(text: string): void {
    if (this.#stop.signal.aborted) return;
    this.#isWanted = this.push(text);
    this.#wait();
  }

  #untilWanted(): Promise<void> | undefined {
    if (this.#isWanted || this.#stop.signal.aborted) return undefined;
    return new Promise((resolve) => {
      this.#onWanted = resolve;
    });
  }

  async #pump(): Promise<void> {
    const { events, onFailure } = this.#options;
    const { signal } = this.#stop;
    try {
      await this.#untilWanted();
      for await (const event of events(signal)) {
        this.#say(encode(event));
        await this.#untilWanted();
        if (signal.aborted) return;
      }
    } catch (error) {
      // Without an id: a client that comes back goes on after the last event it had.
      if (!signal.aborted) this.#say(encodeData("error", onFailure(error)));
    }
    if (!signal.aborted) this.finish();
  }
}

const closeWithinMs = 1000;

/** Streams of one server. They end when it begins to close: their readers come back, to another node. */
export function openEventStreams(app: FastifyInstance, options: SendEventsOptions = {}): SendEvents {
  const { heartbeatMs = 15_000, stalledMs = 60_000, mostMs = 15 * 60_000 } = options;
  const open = new Map<EventBody, FastifyRequest["raw"]["socket"]>();
  options.watch?.(() => open.size);
  let isClosing = false;

  const close = (body: EventBody, socket: FastifyRequest["raw"]["socket"]): void => {
    if (body.isStalled) return void socket.destroy();
    // An idle connection would be kept for the next request, which must not come here.
    body.once("close", () => socket.destroySoon());
    setTimeout(() => socket.destroy(), closeWithinMs).unref();
    body.finish();
  };
  app.addHook("preClose", async () => {
    isClosing = true;
    for (const [body, socket] of open) close(body, socket);
  });

  return (request, reply, { headers, events }) => {
    reply.code(200).headers({ ...headers, ...streamHeaders });
    // Nobody would read it, and it would have no end. And while closing, no stream begins.
    if (request.method === "HEAD" || isClosing) return reply.send("");
    const onFailure: BodyOptions["onFailure"] = (error) => {
      request.log.error({ requestId: request.id, err: error }, "a stream of events broke off");
      const message = `Something failed on our side. Try again; if it persists, report request ${request.id}.`;
      return { code: "server_error", message };
    };
    const body = new EventBody({ events, onFailure, heartbeatMs, stalledMs });
    open.set(body, request.raw.socket);
    const tooOld = setTimeout(() => body.finish(), mostMs).unref();
    body.once("close", () => {
      clearTimeout(tooOld);
      open.delete(body);
    });
    return reply.send(body);
  };
}
