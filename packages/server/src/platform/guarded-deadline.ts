export interface Deadline {
  readonly signal: AbortSignal;
  readonly abort: (reason: unknown) => void;
  /** Releases the timer and the listener on the caller's signal. */
  readonly end: () => void;
}

/** Combines the time limit with the caller's signal. AbortSignal.timeout would keep its timer after the exchange has ended. */
export function startDeadline(timeoutMs: number, caller: AbortSignal | null | undefined): Deadline {
  const controller = new AbortController();
  const onCallerAbort = () => controller.abort(caller?.reason);
  const onTimeout = () =>
    controller.abort(new DOMException(`The exchange took longer than ${timeoutMs / 1000} s.`, "TimeoutError"));
  const timer = setTimeout(onTimeout, timeoutMs).unref();
  const end = () => {
    clearTimeout(timer);
    caller?.removeEventListener("abort", onCallerAbort);
  };
  if (caller?.aborted) onCallerAbort();
  else caller?.addEventListener("abort", onCallerAbort, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => {
      end();
      controller.abort(reason);
    },
    end,
  };
}
