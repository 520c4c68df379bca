import { TransientModelError } from "./model.ts";

export interface IdleTimeout {
  /** For the call itself: aborted by the caller, by the timeout, and by `stop`. */
  readonly signal: AbortSignal;
  /** Rejects when the caller or the timeout ends the call. Nothing else settles it. */
  readonly ended: Promise<never>;
  /** Restarts the timer: data was received. */
  readonly reset: () => void;
  readonly stop: () => void;
}

/** Ends a call when nothing is received for `idleTimeoutMs`, or when the caller aborts. */
export function createIdleTimeout(subject: string, idleTimeoutMs: number, caller: AbortSignal): IdleTimeout {
  const controller = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  // The caller races against this promise; without a race left, a rejection must not count as unhandled.
  promise.catch(() => undefined);
  const end = (reason: unknown) => {
    reject(reason);
    controller.abort(reason);
  };
  const onIdle = () => end(new TransientModelError(`${subject} sent nothing for ${idleTimeoutMs / 1000} s.`));
  const onCallerAbort = () => end(caller.reason);
  let timer = setTimeout(onIdle, idleTimeoutMs);
  caller.addEventListener("abort", onCallerAbort, { once: true });
  if (caller.aborted) onCallerAbort();
  return {
    signal: controller.signal,
    ended: promise,
    reset: () => {
      if (controller.signal.aborted) return;
      clearTimeout(timer);
      timer = setTimeout(onIdle, idleTimeoutMs);
    },
    stop: () => {
      clearTimeout(timer);
      caller.removeEventListener("abort", onCallerAbort);
      controller.abort();
    },
  };
}
