/** Limits how long one call prevents the other side from serving other clients. */
const maxBatchSize = 128;

interface Pending<Request, Result> {
  readonly request: Request;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Requests of one event-loop turn are sent in one call, so a busy process makes far fewer calls than it has requests. */
export function batchPerTurn<Request, Result extends NonNullable<unknown>>(
  call: (requests: readonly Request[]) => Promise<readonly Result[]>,
): (request: Request) => Promise<Result> {
  let pending: Pending<Request, Result>[] = [];

  const send = async (batch: readonly Pending<Request, Result>[]): Promise<void> => {
    try {
      const results = await call(batch.map(({ request }) => request));
      for (const [i, { resolve, reject }] of batch.entries()) {
        const result = results[i];
        if (result === undefined) reject(new Error("The reply has fewer results than there were requests"));
        else resolve(result);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };

  const flush = (): void => {
    const requests = pending;
    pending = [];
    for (let i = 0; i < requests.length; i += maxBatchSize) void send(requests.slice(i, i + maxBatchSize));
  };

  return (request) =>
    new Promise((resolve, reject) => {
      if (pending.length === 0) setImmediate(flush);
      pending.push({ request, resolve, reject });
    });
}
