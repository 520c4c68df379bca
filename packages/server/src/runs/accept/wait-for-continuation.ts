import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../db/database.ts";
import type { Engine } from "../../engine/engine.ts";
import type { RunInput, RunResult } from "../../engine/messages.ts";
import { findRecorded } from "../record/find-outcome.ts";

interface WaitDeps {
  readonly db: Database;
  readonly engine: Pick<Engine, "waitContinued">;
}

/** Waits until a run that waited has ended or waits again; undefined when neither happened in time. */
export type WaitForContinuation = (
  run: Pick<RunInput, "organisationId" | "id">,
  waitMs: number,
  signal: AbortSignal,
) => Promise<RunResult | undefined>;

const minPauseMs = 100;
const maxPauseMs = 500;

/**
 * The continuation may have to wait for a slot or for its agent to be resumed, and to call it would start it. So only one that has begun
 * is waited for in the engine. Until then the run's row is read again and again, for as long as the client is there.
 */
export const createWaitForContinuation =
  ({ db, engine }: WaitDeps): WaitForContinuation =>
  async (run, waitMs, signal) => {
    const untilMs = performance.now() + waitMs;
    for (let pauseMs = minPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, maxPauseMs)) {
      const { outcome, waiting, continuation } = await findRecorded(db, run);
      if (outcome || waiting) return outcome ?? waiting;
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0 || signal.aborted) return undefined;
      const result = continuation && (await engine.waitContinued(continuation, leftMs));
      // One that waits again may have been decided by now: its row has the actions that it waits for.
      if (result && result.status !== "waiting") return result;
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  };
