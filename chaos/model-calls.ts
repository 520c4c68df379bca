import type { Sent } from "./clients.ts";
import type { ModelCall } from "./counting-model.ts";
import type { Fault, Interruption } from "./faults.ts";

export interface CallCount {
  readonly calls: number;
  /** Calls after the first of their run and step. */
  readonly repeated: number;
  /** Calls of runs that no client was ever told of: a second run for one key. */
  readonly strangers: number;
  /** For each fault: repeated calls it accounts for, and how many it might have. */
  readonly byFault: readonly { readonly name: string; readonly repeated: number; readonly atMost: number }[];
  /** Repeated calls that no fault accounts for, and all calls of strangers. */
  readonly beyondFaults: readonly string[];
}

/**
 * What a crash may repeat is the one step a run had in flight. A worker that is killed interrupts it once; an engine node
 * that is lost does when it goes, and each time leaders move when it is back; nothing else may. An interruption accounts for a
 * repeated call only if
 *  - it accounts for no other call of that run: one run, one interruption, one step,
 *  - it accounts for no more calls than there were runs under way at one moment of it,
 *  - the call that is repeated began before the interruption was over, and the repetition came after it began,
 *  - the step was not over when it was repeated: neither the run's next step nor its answer had been seen outside.
 */
const accountsFor = (
  { fromMs, untilMs }: Interruption,
  first: ModelCall,
  again: ModelCall,
  isOverAtMs: number,
): boolean => first.atMs <= untilMs && again.atMs >= fromMs && again.atMs <= isOverAtMs;

interface Run {
  readonly calls: readonly ModelCall[];
  readonly answeredAtMs: number;
}

const beganAtMs = ({ calls }: Run): number => calls[0]?.atMs ?? 0;

/** The most runs that were under way at one moment of an interruption. */
function mostUnderWay(runs: readonly Run[], { fromMs, untilMs }: Interruption): number {
  const touched = runs.filter((run) => beganAtMs(run) <= untilMs && run.answeredAtMs >= fromMs);
  const moments = [fromMs, ...touched.map(beganAtMs).filter((atMs) => atMs > fromMs)];
  const countAt = (atMs: number) => touched.filter((run) => beganAtMs(run) <= atMs && run.answeredAtMs >= atMs).length;
  return Math.max(...moments.map(countAt));
}

/** The repeated calls of one run, each with the interruption that accounts for it. `left` says how many each still may. */
function repetitionsOf({ calls, answeredAtMs }: Run, left: Map<Interruption, number>) {
  const used = new Set<Interruption>();
  return calls.flatMap((again, i) => {
    const first = calls.slice(0, i).findLast(({ step }) => step === again.step);
    if (!first) return [];
    const isOverAtMs = calls.find(({ step }) => step === again.step + 1)?.atMs ?? answeredAtMs;
    const [by] =
      [...left].find(([each, count]) => count > 0 && !used.has(each) && accountsFor(each, first, again, isOverAtMs)) ??
      [];
    if (by) {
      used.add(by);
      left.set(by, (left.get(by) ?? 0) - 1);
    }
    return [{ first, again, by }];
  });
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;

export function countCalls(calls: readonly ModelCall[], sent: readonly Sent[], faults: readonly Fault[]): CallCount {
  const answeredAt = new Map(
    sent.flatMap(({ answers, answeredAtMs = 0 }) => answers.map(({ requestId }) => [requestId, answeredAtMs] as const)),
  );
  const all = [...Map.groupBy(calls, ({ requestId }) => requestId)];
  const known = all.flatMap(([requestId, own]): Run[] => {
    const answeredAtMs = answeredAt.get(requestId);
    return answeredAtMs === undefined ? [] : [{ calls: own, answeredAtMs }];
  });
  const strangers = calls.filter(({ requestId }) => !answeredAt.has(requestId));
  const interruptions = faults.flatMap((fault) => fault.interruptions);
  const most = new Map(interruptions.map((each) => [each, mostUnderWay(known, each)]));
  const left = new Map(most);
  const repetitions = known.flatMap((run) => repetitionsOf(run, left));
  return {
    calls: calls.length,
    repeated: repetitions.length,
    strangers: strangers.length,
    byFault: faults.map(({ name, interruptions: own }) => ({
      name,
      repeated: repetitions.filter(({ by }) => by && own.includes(by)).length,
      atMost: own.reduce((sum, each) => sum + (most.get(each) ?? 0), 0),
    })),
    beyondFaults: [
      ...strangers.map(({ requestId, step }) => `${requestId}: step ${step} of a run that nobody was told of`),
      ...repetitions
        .filter(({ by }) => !by)
        .map(
          ({ first, again }) =>
            `${again.requestId}: step ${again.step} called at ${seconds(first.atMs)} and again at ${seconds(again.atMs)}`,
        ),
    ],
  };
}
