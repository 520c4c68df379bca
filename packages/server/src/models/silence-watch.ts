import { PassingModelError } from "./model.ts";

export interface SilenceWatch {
  /** For the call itself: aborted by the caller, by silence, and by `stop`. */
  readonly signal: AbortSignal;
  /** Rejects when the caller or silence ends the call. Nothing else settles it. */
  readonly ended: Promise<never>;
  /** The other side gave a sign of life. */
  readonly heard: () => void;
  readonly stop: () => void;
}

/** Ends a call when nothing comes for a while, or when the caller no longer waits. */
export function watchSilence(subject: string, silenceMs: number, caller: AbortSignal): SilenceWatch {
  const controller = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  // Whoever races against it sees the failure; when nobody does any more it is not an unhandled one.
  promise.catch(() => undefined);
  const end = (reason: unknown) => {
    reject(reason);
    controller.abort(reason);
  };
  const onSilence = () => end(new PassingModelError(`${subject} said nothing for ${silenceMs / 1000} s.`));
  const onCaller = () => end(caller.reason);
  let timer = setTimeout(onSilence, silenceMs);
  caller.addEventListener("abort", onCaller, { once: true });
  if (caller.aborted) onCaller();
  return {
    signal: controller.signal,
    ended: promise,
    heard: () => {
      if (controller.signal.aborted) return;
      clearTimeout(timer);
      timer = setTimeout(onSilence, silenceMs);
    },
    stop: () => {
      clearTimeout(timer);
      caller.removeEventListener("abort", onCaller);
      controller.abort();
    },
  };
}
