import type * as restate from "@restatedev/restate-sdk";
import { currentJournal } from "../engine/journal.ts";
import type { RunResult } from "../engine/messages.ts";
import { type Attempt, type Ended, firstAttempt, type Retry } from "../runs/run.ts";
import { retryStepUntilSuccess } from "./retry-policies.ts";

/** Whether a step's result is all that the run still has to journal. */
export type IsOutput = (result: object) => boolean;

export const stepName = (name: string, tries: number): string => (tries > 1 ? `${name} try ${tries}` : name);

/**
 * Runs a step and journals its result, unless the result is all that the run still has to journal: then the run's output holds it.
 * If the worker dies in between, the step is repeated like any step in flight (decision 13).
 */
export async function runStep<T extends object>(
  context: restate.Context,
  name: string,
  step: (interrupted: boolean) => Promise<T>,
  isOutput: IsOutput,
): Promise<T | Ended> {
  const journal = currentJournal();
  const begin = (): Promise<T> => step(journal.isRepeat(name));
  if (journal.hasStep(name)) return context.run(name, begin, retryStepUntilSuccess);
  // The last step of an earlier attempt, which wrote the output and died before the engine knew that the run was over.
  if (journal.output !== undefined) return { ended: journal.output as RunResult, toDeliver: [], unrecorded: null };
  const made = journal.takeResult(name) as PromiseSettledResult<T> | undefined;
  const first = made ?? (await Promise.allSettled([begin()]))[0];
  if (first.status === "fulfilled" && isOutput(first.value)) return first.value;
  let unread: PromiseSettledResult<T> | undefined = first;
  const journaled = async (): Promise<T> => {
    const settled = unread;
    unread = undefined;
    if (!settled) return step(true);
    if (settled.status === "rejected") throw settled.reason;
    return settled.value;
  };
  return context.run(name, journaled, retryStepUntilSuccess);
}

/** Repeats a step, after a durable sleep, until it returns something other than `retry`. */
export async function retryUntilSettled<T extends object>(
  context: restate.Context,
  name: string,
  step: (attempt: Attempt) => Promise<T | Retry>,
  isOutput: IsOutput,
): Promise<T | Ended> {
  let attempt = firstAttempt;
  for (let tries = 1; ; tries++) {
    const now = attempt;
    const begin = (interrupted: boolean) => step(interrupted ? { ...now, interrupted } : now);
    const result = await runStep(context, stepName(name, tries), begin, isOutput);
    if (!("retry" in result)) return result as T;
    if (result.afterMs > 0) await context.sleep(result.afterMs);
    attempt = result.retry;
  }
}
