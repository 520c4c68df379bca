/** Waits so long; rejects with the signal's reason as soon as it is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) onAbort();
  });
}

/** Ends when the caller's signal does, or when nothing has been heard for so long. */
export interface Watch {
  readonly signal: AbortSignal;
  /** True if it was the time, not the caller. */
  readonly timedOut: () => boolean;
  /** Counts anew from here. */
  readonly restart: (ms: number) => void;
  readonly stop: () => void;
}

/** By hand, since `AbortSignal.any` keeps what it made for as long as the caller's signal lives on some platforms. */
export function watch(ms: number, caller: AbortSignal | undefined): Watch {
  const controller = new AbortController();
  let isOver = false;
  const onTime = (): void => {
    isOver = true;
    controller.abort(new DOMException("No answer in time", "TimeoutError"));
  };
  const onCaller = (): void => controller.abort(caller?.reason);
  let timer = setTimeout(onTime, ms);
  caller?.addEventListener("abort", onCaller, { once: true });
  if (caller?.aborted) onCaller();
  return {
    signal: controller.signal,
    timedOut: () => isOver && caller?.aborted !== true,
    restart: (nextMs) => {
      clearTimeout(timer);
      timer = setTimeout(onTime, nextMs);
    },
    stop: () => {
      clearTimeout(timer);
      caller?.removeEventListener("abort", onCaller);
    },
  };
}

/** The work, or the signal's reason if that comes first: not every `fetch` heeds its signal. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
