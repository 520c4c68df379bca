import { type Dispatcher, Pool } from "undici";

/** The end of the time that a call may take. `AbortSignal.timeout` would keep a timer for each call long after its answer. */
export class Deadline {
  hasPassed = false;
  /** What to interrupt when the time is up. */
  onPassed: (() => void) | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(timeoutMs: number) {
    this.#timer = setTimeout(() => {
      this.hasPassed = true;
      this.onPassed?.();
    }, timeoutMs);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}

/** Resolves after this time, or when the deadline passes. */
export const sleepWithin = (deadline: Deadline, ms: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    deadline.onPassed = () => {
      clearTimeout(timer);
      resolve();
    };
  });

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

interface Post {
  readonly path: string;
  readonly idempotencyKey: string;
  readonly body: string;
}

/** Where one node of the engine takes calls. */
export interface Ingress {
  readonly url: string;
  readonly post: (request: Post, deadline: Deadline) => Promise<TextResponse>;
  readonly close: () => Promise<void>;
}

/** Connections have no time limits of their own, because a call lasts as long as its run. */
const poolOptions = { connections: 1024, headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 30_000 };

export function createIngress(url: string): Ingress {
  const { origin, pathname } = new URL(url);
  const prefix = pathname.replace(/\/$/, "");
  const pool = new Pool(origin, poolOptions);
  return {
    url,
    post: ({ path, idempotencyKey, body }, deadline) =>
      new Promise((resolve, reject) => {
        const reader = new TextReader(resolve, reject);
        deadline.onPassed = () => reader.abort(new Error("The engine did not answer in time"));
        const headers = ["content-type", "application/json", "idempotency-key", idempotencyKey];
        pool.dispatch({ path: prefix + path, method: "POST", headers, body }, reader);
      }),
    close: () => pool.close(),
  };
}
