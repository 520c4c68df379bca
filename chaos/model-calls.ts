import type { SentRequest } from "./clients.ts";
import type { ModelCall } from "./counting-model.ts";
import type { Fault, Interruption } from "./faults.ts";

export interface CallCount {
  readonly calls: number;
  /** Calls after the first of their run and step. */
  readonly repeated: number;
  /** Calls of runs whose id no client received: a second run for one key. */
  readonly unknownRunCalls: number;
  /** For each fault: the repeated calls that it explains, and the most that it may explain. */
  readonly byFault: readonly { readonly name: string; readonly repeated: number; readonly maxRepeated: number }[];
  /** Repeated calls that no fault explains, and all calls of unknown runs. */
  readonly beyondFaults: readonly string[];
}

/**
 * A crash may repeat the one step that a run had in flight. Killing a worker interrupts it once; losing an engine node
 * does when the node goes down, and each time leaders move after its return; nothing else may. An interruption explains a
 * repeated call only if
 *  - it explains no other call of that run: one run, one interruption, one step,
 *  - it explains no more calls than there were runs in flight at one moment of it,
 *  - the call that is repeated began before the interruption was over, and the repetition came after it began,
 *  - the step was not over when it was repeated: neither the run's next step nor its answer had been seen outside.
 */
const explains = (
  { fromMs, untilMs }: Interruption,
  first: ModelCall,
  repeat: ModelCall,
  isOverAtMs: number,
): boolean => first.atMs <= untilMs && repeat.atMs >= fromMs && repeat.atMs <= isOverAtMs;

interface Run {
  readonly calls: readonly ModelCall[];
  readonly answeredAtMs: number;
}

const startedAtMs = ({ calls }: Run): number => calls[0]?.atMs ?? 0;

/** The largest number of runs in flight at one moment of an interruption. */
function maxRunsInFlight(runs: readonly Run[], { fromMs, untilMs }: Interruption): number {
  const touched = runs.filter((run) => startedAtMs(run) <= untilMs && run.answeredAtMs >= fromMs);
  const moments = [fromMs, ...touched.map(startedAtMs).filter((atMs) => atMs > fromMs)];
  const countAt = (atMs: number) =>
    touched.filter((run) => startedAtMs(run) <= atMs && run.answeredAtMs >= atMs).length;
  return Math.max(...moments.map(countAt));
}

/** The repeated calls of one run, each with the interruption that explains it. `remaining` is how many each may still explain. */
function repetitionsOf({ calls, answeredAtMs }: Run, remaining: Map<Interruption, number>) {
  const used = new Set<Interruption>();
  return calls.flatMap((repeat, i) => {
    const first = calls.slice(0, i).findLast(({ step }) => step === repeat.step);
    if (!first) return [];
    const isOverAtMs = calls.find(({ step }) => step === repeat.step + 1)?.atMs ?? answeredAtMs;
    const [by] =
      [...remaining].find(
        ([each, count]) => count > 0 && !used.has(each) && explains(each, first, repeat, isOverAtMs),
      ) ?? [];
    if (by) {
      used.add(by);
      remaining.set(by, (remaining.get(by) ?? 0) - 1);
    }
    return [{ first, repeat, by }];
  });
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;

export function countCalls(
  calls: readonly ModelCall[],
  sent: readonly SentRequest[],
  faults: readonly Fault[],
): CallCount {
  const answeredAt = new Map(
    sent.flatMap(({ answers, answeredAtMs = 0 }) => answers.map(({ requestId }) => [requestId, answeredAtMs] as const)),
  );
  const all = [...Map.groupBy(calls, ({ requestId }) => requestId)];
  const known = all.flatMap(([requestId, own]): Run[] => {
    const answeredAtMs = answeredAt.get(requestId);
    return answeredAtMs === undefined ? [] : [{ calls: own, answeredAtMs }];
  });
  const unknownRunCalls = calls.filter(({ requestId }) => !answeredAt.has(requestId));
  const interruptions = faults.flatMap((fault) => fault.interruptions);
  const maxRepeats = new Map(interruptions.map((each) => [each, maxRunsInFlight(known, each)]));
  const remaining = new Map(maxRepeats);
  const repetitions = known.flatMap((run) => repetitionsOf(run, remaining));
  return {
    calls: calls.length,
    repeated: repetitions.length,
    unknownRunCalls: unknownRunCalls.length,
    byFault: faults.map(({ name, interruptions: own }) => ({
      name,
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
