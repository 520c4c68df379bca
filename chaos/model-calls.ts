import type { SentRequest } from "./clients.ts";
import type { ModelCall } from "./counting-model.ts";

export interface CallCount {
  readonly calls: number;
  /** Calls after the first of their run and step. */
  readonly repeated: number;
  /** Calls of runs whose id no client received, which are second runs for one key. */
  readonly unknownRunCalls: number;
  /** For each cause: the repeated calls that it explains, and the most that it may explain. */
  readonly byCause: readonly { readonly cause: string; readonly repeated: number; readonly maxRepeated: number }[];
  /** Repeated calls that no interruption explains, and all calls of unknown runs. */
  readonly beyondFaults: readonly string[];
}

/** When the steps that runs had in flight may have been cut off: those of every run, or of the runs in one partition of the engine. */
export interface Interruption {
  readonly cause: string;
  readonly partition?: number;
  readonly fromMs: number;
  readonly untilMs: number;
}

interface Run {
  readonly calls: readonly ModelCall[];
  /** When it was answered. An answer from its record may come before the engine knows that the last step is over. */
  readonly endedAtMs: number;
  readonly partition: number | undefined;
}

/**
 * A crash may repeat the one step that a run had in flight. Three events interrupt runs once each: the kill of a
 * worker, a move of a partition to another leader within the engine (for the runs of that partition), and a time in
 * which the machine was taken away. Nothing else may. An interruption explains a repeated call only if
 *  - it explains no other call of that run: one run, one interruption, one step,
 *  - it explains no more calls than there were runs in flight at one moment of it, in its partition,
 *  - the call that is repeated began before the interruption was over, and the repetition came after it began,
 *  - the step was not over when it was repeated: neither the run's next step nor the engine's answer had been seen
 * outside.
 */
const explains = (
  { partition, fromMs, untilMs }: Interruption,
  run: Run,
  { first, repeat, isOverAtMs }: { readonly first: ModelCall; readonly repeat: ModelCall; readonly isOverAtMs: number },
): boolean =>
  (partition === undefined || partition === run.partition) &&
  first.atMs <= untilMs &&
  repeat.atMs >= fromMs &&
  repeat.atMs <= isOverAtMs;

const startedAtMs = ({ calls }: Run): number => calls[0]?.atMs ?? 0;

/** The largest number of runs in flight at one moment of an interruption. */
function maxRunsInFlight(runs: readonly Run[], { partition, fromMs, untilMs }: Interruption): number {
  const touched = runs.filter(
    (run) =>
      (partition === undefined || partition === run.partition) &&
      startedAtMs(run) <= untilMs &&
      run.endedAtMs >= fromMs,
  );
  const moments = [fromMs, ...touched.map(startedAtMs).filter((atMs) => atMs > fromMs)];
  const countAt = (atMs: number) => touched.filter((run) => startedAtMs(run) <= atMs && run.endedAtMs >= atMs).length;
  return Math.max(...moments.map(countAt));
}

/** The repeated calls of one run, each with the interruption that explains it. `remaining` is how many each may still explain. */
function repetitionsOf(run: Run, remaining: Map<Interruption, number>) {
  const used = new Set<Interruption>();
  return run.calls.flatMap((repeat, i) => {
    const first = run.calls.slice(0, i).findLast(({ step }) => step === repeat.step);
    if (!first) return [];
    const isOverAtMs = run.calls.find(({ step }) => step === repeat.step + 1)?.atMs ?? run.endedAtMs;
    const [by] =
      [...remaining].find(
        ([each, count]) => count > 0 && !used.has(each) && explains(each, run, { first, repeat, isOverAtMs }),
      ) ?? [];
    if (by) {
      used.add(by);
      remaining.set(by, (remaining.get(by) ?? 0) - 1);
    }
    return [{ first, repeat, by }];
  });
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;

/** `partitions` has the engine's partition of each run, by its request id. */
export function countCalls(
  calls: readonly ModelCall[],
  sent: readonly SentRequest[],
  interruptions: readonly Interruption[],
  partitions: ReadonlyMap<string, number>,
): CallCount {
  const answered = new Map(sent.flatMap((item) => item.answers.map(({ requestId }) => [requestId, item] as const)));
  const known = [...Map.groupBy(calls, ({ requestId }) => requestId)].flatMap(([requestId, own]): Run[] => {
    const item = answered.get(requestId);
    if (!item) return [];
    const lastCallMs = item.answers[0]?.isReplayed ? (own.at(-1)?.atMs ?? 0) : 0;
    const endedAtMs = Math.max(item.answeredAtMs ?? 0, lastCallMs);
    return [{ calls: own, endedAtMs, partition: partitions.get(requestId) }];
  });
  const unknownRunCalls = calls.filter(({ requestId }) => !answered.has(requestId));
  const maxRepeats = new Map(interruptions.map((each) => [each, maxRunsInFlight(known, each)]));
  const remaining = new Map(maxRepeats);
  const repetitions = known.flatMap((run) => repetitionsOf(run, remaining));
  return {
    calls: calls.length,
    repeated: repetitions.length,
    unknownRunCalls: unknownRunCalls.length,
    byCause: [...Map.groupBy(interruptions, ({ cause }) => cause)].map(([cause, own]) => ({
      cause,
      repeated: repetitions.filter(({ by }) => by && own.includes(by)).length,
      maxRepeated: own.reduce((sum, each) => sum + (maxRepeats.get(each) ?? 0), 0),
    })),
    beyondFaults: [
      ...unknownRunCalls.map(
        ({ requestId, step }) => `${requestId}: step ${step} of a run whose id no client received`,
      ),
      ...repetitions
        .filter(({ by }) => !by)
        .map(
          ({ first, repeat }) =>
            `${repeat.requestId}: step ${repeat.step} called at ${seconds(first.atMs)} and again at ${seconds(repeat.atMs)}`,
        ),
    ],
  };
}
