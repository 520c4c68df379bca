import { randomBytes } from "node:crypto";
import type { TextWriter } from "./run-streams.ts";
import { createTextDiff, type TextDiff, type TextToken } from "./text-diff.ts";

/** A writer's claim to the stream of a step. */
export interface Claim {
  readonly writer: string;
  readonly startedAtMs: number;
  /** How many times this writer has taken the stream: fences off its own late calls. */
  readonly generation: number;
}

/**
 * - taken: another attempt owns the stream now, or a later step has begun.
 * - lost: the store has forgotten who writes, as after a restart.
 * - full: the run's events exceed what the store keeps of one run.
 * - dropped: those of its organisation exceed what the store keeps of them.
 */
export type PutResult = "put" | "taken" | "lost" | "full" | "dropped";

/** The store of the text of one step of one run. Both may reject, with or without having taken effect. */
export interface TextStore {
  /** Makes the claim the owner and returns the stored text of the step; undefined if the claim is refused. */
  readonly take: (claim: Claim) => Promise<string | undefined>;
  readonly put: (claim: Claim, token: TextToken) => Promise<PutResult>;
}

export interface TextWriterOptions {
  readonly store: TextStore;
  readonly now: () => number;
  /** All of an attempt is kept until it ends, so this bounds the memory of a writer too. */
  readonly maxTextLength: number;
  readonly onFailure: (error: unknown) => void;
  readonly flushEveryMs?: number;
  readonly retryAfterMs?: number;
  readonly finishWithinMs?: number;
}

/**
 * Writes the text of an attempt to a store. When a call fails, the stream is taken again and its content is compared with the full
 * text, as a new attempt would: whether or not the failed call took effect, the stored text has no gaps. A call that arrives late
 * carries an older generation and is ignored.
 */
export function createTextWriter(options: TextWriterOptions): TextWriter {
  const { store, now, maxTextLength, onFailure } = options;
  const { flushEveryMs = 20, retryAfterMs = 1000, finishWithinMs = 1000 } = options;
  const writer = randomBytes(9).toString("base64url");
  const startedAtMs = now();
  let generation = 0;
  /** Undefined while the stream is not ours. */
  let diff: TextDiff | undefined;
  let fullText = "";
  let unflushed = "";
  let state: "writing" | "finishing" | "stopped" = "writing";
  let working: Promise<void> | undefined;
  let endPause = () => {};

  const claim = (): Claim => ({ writer, startedAtMs, generation });
  const stop = (): void => {
    state = "stopped";
    diff = undefined;
    fullText = unflushed = "";
  };
  const forget = (): void => {
    diff = undefined;
    unflushed = "";
  };

  const put = async (token: TextToken | undefined): Promise<void> => {
    if (!token) return;
    const answer = await store.put(claim(), token);
    if (answer === "taken" || answer === "full" || answer === "dropped") stop();
    if (answer !== "lost") return;
    forget();
    unflushed = fullText;
  };

  const flush = async (): Promise<void> => {
    if (!diff) {
      generation++;
      const before = await store.take(claim());
      if (before === undefined || state === "stopped") return stop();
      diff = createTextDiff(before);
      unflushed = fullText;
    }
    const text = unflushed;
    unflushed = "";
    await put(diff.append(text));
    if (state !== "finishing" || !diff) return;
    await put(diff.finish());
    if (diff) stop();
  };

  // After a failure, retry only when there is more text: an abandoned attempt must not retry forever.
  const isWorkLeft = () => state === "finishing" || (state === "writing" && (generation === 0 || unflushed !== ""));

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
      const hadText = unflushed !== "";
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
    write: (delta) => {
      if (state !== "writing") return;
      fullText += delta;
      unflushed += delta;
      if (fullText.length > maxTextLength) stop();
      begin();
    },
    finish: async () => {
      if (state !== "writing") return;
      state = "finishing";
      endPause();
      begin();
      const { promise: timedOut, resolve: giveUp } = Promise.withResolvers<void>();
      const limit = setTimeout(giveUp, finishWithinMs);
      await Promise.race([working, timedOut]);
      clearTimeout(limit);
      stop();
      endPause();
    },
  };
}
