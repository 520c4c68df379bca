import { type Dispatcher, Pool } from "undici";

interface TextResponse {
  readonly status: number;
  readonly text: string;
}

/** Reads a small response into memory. undici's `request` would make a stream for it, and listen to a signal. */
class TextReader implements Dispatcher.DispatchHandler {
  #status = 0;
  #abortedBy: Error | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  readonly #chunks: Buffer[] = [];
  readonly #resolve: (response: TextResponse) => void;
  readonly #reject: (error: Error) => void;

  constructor(resolve: (response: TextResponse) => void, reject: (error: Error) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Also before the request has a connection: then it is not sent. */
  abort(reason: Error): void {
    this.#abortedBy = reason;
    this.#reject(reason);
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#abortedBy) controller.abort(this.#abortedBy);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#resolve({ status: this.#status, text: Buffer.concat(this.#chunks).toString("utf8") });
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#reject(error);
  }
}

/** A `call` is answered when its invocation ends, a `send` when the engine has it. */
export type Verb = "call" | "send";

export interface Post {
  readonly verb: Verb;
  readonly path: string;
  readonly idempotencyKey: string;
  readonly body: string;
}

/** A request under way. */
export interface Exchange {
  readonly response: Promise<TextResponse>;
  readonly abort: (reason: Error) => void;
}

/** The connections to one node of the engine. */
export interface Ingress {
  readonly post: (request: Post) => Exchange;
  /** Asks for the node's health. Whatever it answers, it is not silent. */
  readonly probe: () => Exchange;
  readonly close: () => Promise<void>;
}

/** Connections have no time limits of their own, because a call lasts as long as its run. */
const poolOptions = { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 30_000 };
/** More than the waiting runs that the shares of organisations allow. */
const callConnections = 1024;
const sendConnections = 64;

/** Waiting runs, hand-over and probes have connections of their own, so that none of them waits for another. */
export function createIngress(url: string): Ingress {
  const { origin, pathname } = new URL(url);
  const prefix = pathname.replace(/\/$/, "");
  const pools = {
    call: new Pool(origin, { ...poolOptions, connections: callConnections }),
    send: new Pool(origin, { ...poolOptions, connections: sendConnections }),
    probe: new Pool(origin, { ...poolOptions, connections: 1, connect: { timeout: 2000 } }),
  };

  const dispatch = (pool: Pool, options: Dispatcher.DispatchOptions): Exchange => {
    const { promise, resolve, reject } = Promise.withResolvers<TextResponse>();
    const reader = new TextReader(resolve, reject);
    pool.dispatch(options, reader);
    return { response: promise, abort: (reason) => reader.abort(reason) };
  };

  return {
    post: ({ verb, path, idempotencyKey, body }) => {
      const headers = ["content-type", "application/json", "idempotency-key", idempotencyKey];
      return dispatch(pools[verb], { path: prefix + path, method: "POST", headers, body });
    },
    probe: () => dispatch(pools.probe, { path: `${prefix}/restate/health`, method: "GET" }),
    close: async () => {
      await Promise.all(Object.values(pools).map((pool) => pool.close()));
    },
  };
}
