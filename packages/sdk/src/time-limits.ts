/** The longest timer, about 24 days. A longer one, `Infinity` too, would end at once. */
const maxTimerMs = 2 ** 31 - 1;
const startTimer = (onTime: () => void, ms: number) => setTimeout(onTime, Math.min(ms, maxTimerMs));

/** Sleeps. Rejects with the signal's reason when it is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = startTimer(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) onAbort();
  });
}

/** Aborts with the caller's signal, or after a time. */
export interface TimeLimit {
  readonly signal: AbortSignal;
  /** True if the time ran out and the caller did not abort. */
  readonly timedOut: () => boolean;
  /** Restarts the timer. */
  readonly restart: (ms: number) => void;
  readonly stop: () => void;
}

/** Does not use `AbortSignal.any`, which leaks memory on some platforms while the caller's signal lives. */
export function startTimeLimit(ms: number, caller: AbortSignal | undefined): TimeLimit {
  const controller = new AbortController();
  let isOver = false;
  const onTime = (): void => {
    isOver = true;
    controller.abort(new DOMException("No response in time", "TimeoutError"));
  };
  const onCaller = (): void => controller.abort(caller?.reason);
  let timer = startTimer(onTime, ms);
  caller?.addEventListener("abort", onCaller, { once: true });
  if (caller?.aborted) onCaller();
  return {
    signal: controller.signal,
    timedOut: () => isOver && caller?.aborted !== true,
    restart: (nextMs) => {
      clearTimeout(timer);
      timer = startTimer(onTime, nextMs);
    },
    stop: () => {
      clearTimeout(timer);
      caller?.removeEventListener("abort", onCaller);
    },
  };
}

/** Rejects with the signal's reason even if `fetch` ignores its signal. */
export function raceWithAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
