/**
 * Stops waiting when the caller does, with the signal's reason or another error. The work goes on for other callers
 * that wait for it, and its failure is handled.
 */
export function waitUntilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  toError: (aborted: AbortSignal) => unknown = ({ reason }) => reason,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const abort = () => reject(toError(signal));
  // First, so that the work has a handler whatever the state of the signal.
  work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return promise;
}
