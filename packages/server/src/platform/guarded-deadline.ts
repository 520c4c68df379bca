export interface Deadline {
  readonly signal: AbortSignal;
  readonly abort: (reason: unknown) => void;
  /** The exchange is over: lets go of the timer and of the caller's signal. */
  readonly end: () => void;
}

/** One signal for the time limit and the caller's own. By hand, because AbortSignal.timeout would keep a timer per request to its end. */
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
