import { randomBytes } from "node:crypto";
import type { TextWriter } from "./run-streams.ts";
import { createSaidText, type SaidText, type TextToken } from "./said-text.ts";

/** Who writes the text of a step, since when, and the how manieth time it takes the stream. */
export interface Claim {
  readonly writer: string;
  readonly startedAtMs: number;
  readonly take: number;
}

/**
 * - taken: another attempt writes now, or the step is past.
 * - lost: the store has forgotten who writes, as after a restart.
 * - full: the run has said more than the store keeps.
 */
export type PutAnswer = "put" | "taken" | "lost" | "full";

/** Where the text of one step of one run is kept. Both may reject; nobody knows then whether it happened. */
export interface TextStore {
  /** Makes the claim the owner and tells what text of the step is there; undefined when it may not own it. */
  readonly take: (claim: Claim) => Promise<string | undefined>;
  readonly put: (claim: Claim, token: TextToken) => Promise<PutAnswer>;
}

export interface TextWriterOptions {
  readonly store: TextStore;
  readonly now: () => number;
  /** All of an attempt is kept until it ends, so this bounds the memory of a writer too. */
  readonly mostTextLength: number;
  readonly onFailure: (error: unknown) => void;
  readonly flushEveryMs?: number;
  readonly retryAfterMs?: number;
  readonly finishWithinMs?: number;
}

/**
 * Says an attempt into a store. When a call fails, the stream is taken again and what it then holds is compared with all that was
 * said, as a new attempt would: whatever became of the failed call, and even if all was lost, no hole can come of it. A call that
 * still arrives late carries an older take and does nothing.
 */
export function createTextWriter(options: TextWriterOptions): TextWriter {
  const { store, now, mostTextLength, onFailure } = options;
  const { flushEveryMs = 20, retryAfterMs = 1000, finishWithinMs = 1000 } = options;
  const writer = randomBytes(9).toString("base64url");
  const startedAtMs = now();
  let take = 0;
  /** Undefined while the stream is not ours. */
  let said: SaidText | undefined;
  let whole = "";
  /** What was said since the last flush. */
  let fresh = "";
  let state: "writing" | "finishing" | "stopped" = "writing";
  let working: Promise<void> | undefined;
  let endPause = () => {};

  const claim = (): Claim => ({ writer, startedAtMs, take });
  const stop = (): void => {
    state = "stopped";
    said = undefined;
    whole = fresh = "";
  };
  const forget = (): void => {
    said = undefined;
    fresh = "";
  };

  const put = async (token: TextToken | undefined): Promise<void> => {
    if (!token) return;
    const answer = await store.put(claim(), token);
    if (answer === "taken" || answer === "full") stop();
    if (answer !== "lost") return;
    forget();
    fresh = whole;
  };

  const flush = async (): Promise<void> => {
    if (!said) {
      take++;
      const before = await store.take(claim());
      if (before === undefined || state === "stopped") return stop();
      said = createSaidText(before);
      fresh = whole;
    }
    const text = fresh;
    fresh = "";
    await put(said.say(text));
    if (state !== "finishing" || !said) return;
    await put(said.finish());
    if (said) stop();
  };

  // After a failure only more text is worth another try: an attempt that was given up must not try for ever.
  const isWorkLeft = () => state === "finishing" || (state === "writing" && (take === 0 || fresh !== ""));

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const work = async (): Promise<void> => {
    while (isWorkLeft()) {
      const hadText = fresh !== "";
      try {
        await flush();
        if (hadText && state === "writing") await pause(flushEveryMs);
      } catch (error) {
        onFailure(error);
        forget();
        if (state !== "stopped") await pause(state === "finishing" ? flushEveryMs : retryAfterMs);
      }
    }
    working = undefined;
  };

  const begin = (): void => {
    if (!working && isWorkLeft()) working = work();
  };
  begin();

  return {
    say: (delta) => {
      if (state !== "writing") return;
      whole += delta;
      fresh += delta;
      if (whole.length > mostTextLength) stop();
      begin();
    },
    finish: async () => {
      if (state !== "writing") return;
      state = "finishing";
      endPause();
      begin();
      const { promise: tooLate, resolve: giveUp } = Promise.withResolvers<void>();
      const limit = setTimeout(giveUp, finishWithinMs);
      await Promise.race([working, tooLate]);
      clearTimeout(limit);
      stop();
      endPause();
    },
  };
}
