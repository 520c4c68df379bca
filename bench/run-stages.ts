import { type Contender, compare, type Figures, prefixed, type Round, type Rounds, roundTo } from "./comparison.ts";
import { median } from "./load.ts";
import type { StageTimes } from "./observed-process.ts";
import type { ProcessUse } from "./observer.ts";

/** The ends of the stages, in order: each begins at the end of the one before. The type makes sure that none is missing. */
const stages = Object.keys({
  request_arrived: true,
  admitted: true,
  slot_taken: true,
  worker_called: true,
  record_queued: true,
  statement_started: true,
  statement_done: true,
  slot_released: true,
  output_returned: true,
  engine_answered: true,
  response_sent: true,
} satisfies Record<keyof StageTimes, true>) as (keyof StageTimes)[];

type Passed = Required<StageTimes>;

/** The runs that passed every stage: API and worker may be two processes, and each knows its part. */
function joinRuns(processes: readonly ProcessUse[]): Passed[] {
  const joined = new Map<string, StageTimes>();
  for (const { runs } of processes)
    for (const [id, times] of Object.entries(runs)) joined.set(id, { ...joined.get(id), ...times });
  return [...joined.values()].filter((times): times is Passed => stages.every((stage) => times[stage] !== undefined));
}

/** The median of each stage in milliseconds. */
function stageMs(runs: readonly Passed[]): Record<string, number> {
  const medianBetween = (from: keyof StageTimes, to: keyof StageTimes): number =>
    roundTo(2, median(runs.map((times) => times[to] - times[from])));
  const between = stages.slice(1).map((stage, i) => [`ms_${stage}`, medianBetween(stages[i] ?? stage, stage)]);
  return { ...Object.fromEntries(between), ms_whole: medianBetween("request_arrived", "response_sent") };
}

/** The life of a run and what limits it, with one column for each number of connections. */
export async function measureStages(contender: Contender, rounds: Rounds): Promise<Figures> {
  const rows: Record<string, Record<string, number>> = {};
  for (const connections of [1, 16, 64]) {
    const compared = await compare("stages of a run", [contender], connections, rounds);
    const measured = compared.rounds(contender.name);
    const runs = measured.flatMap(({ processes }) => joinRuns(processes));
    if (runs.length === 0) throw new Error("No run passed every stage");
    const medianOf = (share: (round: Round) => number) => roundTo(2, median(measured.map(share)));
    const column = {
      ...stageMs(runs),
      runs_per_second: roundTo(0, median(measured.map(({ rate }) => rate))),
      ...prefixed("event_loop", compared.eventLoops(contender.name)),
      ...prefixed("cpu_ms", compared.cpuMs(contender.name)),
      idle_share: medianOf(({ idle }) => idle),
      foreign_share: medianOf(({ foreign }) => foreign),
      stolen_share: medianOf(({ stolen }) => stolen),
    };
    for (const [name, value] of Object.entries(column)) rows[name] = { ...rows[name], [`c${connections}`]: value };
  }
  return rows;
}
