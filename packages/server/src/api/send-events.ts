import { Readable } from "node:stream";
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type ApiError, isRefusal } from "../platform/api-error.ts";
import type { EventStream, ServerComment, ServerEvent } from "../resources/handlers.ts";

type EventsOf = EventStream["events"];

export type SendEvents = (
  request: FastifyRequest,
  reply: FastifyReply,
  stream: Pick<EventStream, "headers" | "events">,
  /** Throws an `ApiError` once the client may not follow the stream any more. Called at every heartbeat. */
  checkAccess: () => Promise<void>,
) => FastifyReply;

interface SendEventsOptions {
  /** A comment is sent after this long without an event, so that proxies keep the connection open. Access is checked as often. */
  readonly heartbeatMs?: number | undefined;
  /** The connection of a reader that takes no data for this long is closed. */
  readonly stalledMs?: number;
  /** The stream ends after this time. The client reconnects, and all settings are checked again. */
  readonly maxMs?: number;
  /** Receives a function that counts the open streams. */
  readonly watch?: (open: () => number) => void;
}

const streamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // Keeps nginx from buffering events.
  "x-accel-buffering": "no",
};

const encodeData = (event: string, data: unknown): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
const encode = (sent: ServerEvent | ServerComment): string =>
  "comment" in sent ? `: ${sent.comment}\n\n` : `id: ${sent.id}\n${encodeData(sent.event, sent.data)}`;

interface BodyOptions extends Required<Omit<SendEventsOptions, "maxMs" | "watch">> {
  readonly events: EventsOf;
  /** Logs the error and returns the payload of the client's error event. */
  readonly onFailure: (error: unknown) => { readonly code: string; readonly message: string };
}

/** Pulls the next event only when the last one was read. One timer serves as heartbeat, or as time-out of a stalled reader. */
class EventBody extends Readable {
  readonly #options: BodyOptions;
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #hasDemand = false;
  #onDemand = (): void => undefined;

  constructor(options: BodyOptions) {
    super({ highWaterMark: 1 });
    this.#options = options;
    // Also flushes the headers before the first event.
    this.#write("retry: 1000\n\n");
    void this.#pump();
  }

  get isStalled(): boolean {
    return !this.#hasDemand;
  }

  /** Ends now, with an event that gives the reason. It has no id, like that of a failure. */
  refuse({ code, message }: ApiError): void {
    if (this.#stop.signal.aborted) return;
    this.#write(encodeData("error", { code, message }));
    this.finish();
  }

  /** Ends now, even if the source has more events. */
  finish(): void {
    this.#stop.abort();
    if (this.readableEnded || this.destroyed) return;
    this.push(null);
    this.#hasDemand = false;
    this.#resetTimer();
  }

  override _read(): void {
    if (this.#hasDemand) return;
    this.#hasDemand = true;
    this.#resetTimer();
    this.#onDemand();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#timer);
    this.#stop.abort();
    this.#onDemand();
    done(error);
  }

  readonly #heartbeat = (): void => this.#write(": heartbeat\n\n");
  readonly #closeStalled = (): void => void this.destroy();

  #resetTimer(): void {
    clearTimeout(this.#timer);
    const { heartbeatMs, stalledMs } = this.#options;
    this.#timer = this.#hasDemand
      ? setTimeout(this.#heartbeat, heartbeatMs)
      : setTimeout(this.#closeStalled, stalledMs);
  }

  #write(text: string): void {
    if (this.#stop.signal.aborted) return;
    this.#hasDemand = this.push(text);
    this.#resetTimer();
  }

  #waitForDemand(): Promise<void> | undefined {
    if (this.#hasDemand || this.#stop.signal.aborted) return undefined;
    return new Promise((resolve) => {
      this.#onDemand = resolve;
    });
  }

  async #pump(): Promise<void> {
    const { events, onFailure } = this.#options;
    const { signal } = this.#stop;
    try {
      await this.#waitForDemand();
      for await (const event of events(signal)) {
        this.#write(encode(event));
        await this.#waitForDemand();
        if (signal.aborted) return;
      }
    } catch (error) {
      // Without an id, so that a client that reconnects resumes after the last event it received.
      if (!signal.aborted) this.#write(encodeData("error", onFailure(error)));
    }
    if (!signal.aborted) this.finish();
  }
}

const closeTimeoutMs = 1000;

interface OpenStream {
  readonly socket: FastifyRequest["raw"]["socket"];
  readonly checkAccess: () => Promise<void>;
}

/** A check that fails for another reason, such as a lost database, decides nothing: the next heartbeat checks again. */
async function endIfRefused(body: EventBody, { checkAccess }: OpenStream, logger: FastifyBaseLogger): Promise<void> {
  try {
    await checkAccess();
  } catch (error) {
    if (isRefusal(error)) body.refuse(error);
    else logger.debug({ err: error }, "access check of an event stream failed, will retry");
  }
}

/** Streams of one server. They end when it begins to close, and their clients reconnect to another node. */
export function createSendEvents(app: FastifyInstance, options: SendEventsOptions = {}): SendEvents {
  const { heartbeatMs = 15_000, stalledMs = 60_000, maxMs = 15 * 60_000 } = options;
  const open = new Map<EventBody, OpenStream>();
  options.watch?.(() => open.size);
  let isClosing = false;

  const close = (body: EventBody, { socket }: OpenStream): void => {
    if (body.isStalled) return void socket.destroy();
    // An idle connection would be kept alive for another request, which this server must not get.
    body.once("close", () => socket.destroySoon());
    setTimeout(() => socket.destroy(), closeTimeoutMs).unref();
    body.finish();
  };
  // All streams at once, so that they ask for their epochs in one call.
  const accessTimer = setInterval(() => {
    for (const [body, stream] of open) void endIfRefused(body, stream, app.log);
  }, heartbeatMs).unref();
  app.addHook("preClose", async () => {
    isClosing = true;
    clearInterval(accessTimer);
    for (const [body, stream] of open) close(body, stream);
  });

  return (request, reply, { headers, events }, checkAccess) => {
    reply.code(200).headers({ ...headers, ...streamHeaders });
    // HEAD has no body to stream, and no stream begins while the server closes.
    if (request.method === "HEAD" || isClosing) return reply.send("");
    const onFailure: BodyOptions["onFailure"] = (error) => {
      request.log.error({ correlationId: request.id, err: error }, "event stream failed");
      const message = `Something failed on our side. Try again; if it persists, report the correlation id ${request.id}.`;
      return { code: "server_error", message };
    };
    const body = new EventBody({ events, onFailure, heartbeatMs, stalledMs });
    open.set(body, { socket: request.raw.socket, checkAccess });
    const maxAgeTimer = setTimeout(() => body.finish(), maxMs).unref();
    body.once("close", () => {
      clearTimeout(maxAgeTimer);
      open.delete(body);
    });
    return reply.send(body);
  };
}
