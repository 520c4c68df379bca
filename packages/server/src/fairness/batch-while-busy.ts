/** A request that waits for its result. */
export interface Waiting<Request, Result> {
  readonly request: Request;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

interface BatchOptions<Request> {
  readonly maxRequests: number;
  /** All requests of a batch wait for the largest, so a large one goes with few others, or by itself. */
  readonly maxChars: number;
  readonly charsOf: (request: Request) => number;
  /** More than one call at a time only makes batches smaller, unless full batches are waiting. */
  readonly maxCalls: number;
}

/** Takes the requests of the next call from the front of the queue: at least one. */
function takeBatch<Request, Result>(
  queue: Waiting<Request, Result>[],
  { maxRequests, maxChars, charsOf }: BatchOptions<Request>,
): Waiting<Request, Result>[] {
  let count = 0;
  let chars = 0;
  for (const { request } of queue.slice(0, maxRequests)) {
    chars += charsOf(request);
    if (count > 0 && chars > maxChars) break;
    count++;
  }
  return queue.splice(0, count);
}

/**
 * Requests that come while a call is under way go together in the next one. If none is under way, a request is sent at
 * once by itself. `call` settles every request that it is given; if it fails instead, all of them fail.
 */
export function batchWhileBusy<Request, Result>(
  call: (batch: readonly Waiting<Request, Result>[]) => Promise<void>,
  options: BatchOptions<Request>,
): (request: Request) => Promise<Result> {
  const { maxRequests, maxCalls } = options;
  const queue: Waiting<Request, Result>[] = [];
  let calls = 0;

  const sendWaiting = async (): Promise<void> => {
    calls++;
    while (queue.length > 0) {
      const batch = takeBatch(queue, options);
      await call(batch).catch((error: unknown) => {
        for (const { reject } of batch) reject(error);
      });
    }
    calls--;
  };

  return (request) =>
    new Promise((resolve, reject) => {
      queue.push({ request, resolve, reject });
      if (calls === 0 || (queue.length >= maxRequests && calls < maxCalls)) void sendWaiting();
    });
}
