import { setTimeout as sleep } from "node:timers/promises";
import { type CpuUse, cpuUse, type Parts, readCpuTimes } from "@perch/testkit/installation/cpu-time.ts";
import { median, settleMs, startLoad, type Target } from "./load.ts";
import type { Observation } from "./observed-process.ts";
import { type ProcessUse, usesBetween } from "./observer.ts";

/** Figures by name; some, such as CPU times, also by part. */
export type Figures = Record<string, number | Record<string, number>>;

export interface Contender {
  readonly name: string;
  readonly target: Target;
  /** The processes whose CPU time is counted. */
  readonly parts: Parts;
  /** Of those of its processes that are observed. */
  readonly observe?: () => Promise<readonly Observation[]>;
}

export interface Rounds {
  readonly count: number;
  readonly seconds: number;
  readonly maxWarmUpSeconds: number;
}

export const roundsOf = (options: { readonly short: boolean }): Rounds =>
  options.short ? { count: 3, seconds: 0.8, maxWarmUpSeconds: 2 } : { count: 5, seconds: 4, maxWarmUpSeconds: 10 };

export interface Round extends CpuUse {
  readonly rate: number;
  readonly requests: number;
  readonly processes: readonly ProcessUse[];
}

export interface Comparison {
  readonly rounds: (name: string) => readonly Round[];
  /** Prints and returns the ratio of the medians of the rates, and the difference between the highest and the lowest ratio of a round. */
  readonly reportRatio: (name: string, other: string) => { readonly ratio: number; readonly spread: number };
  /** Milliseconds of CPU for each request by part. `total` leaves out the load. */
  readonly cpuMs: (name: string) => Record<string, number>;
  /** The share of the time in which each process's event loop was busy. */
  readonly eventLoops: (name: string) => Record<string, number>;
  /** The share of the machine that was idle. */
  readonly idleShare: (name: string) => number;
  /** The share of the machine that others used, as the median over all rounds. */
  readonly foreignShare: number;
}

export const prefixed = (prefix: string, figures: Record<string, number>): Record<string, number> =>
  Object.fromEntries(Object.entries(figures).map(([name, value]) => [`${prefix}_${name}`, value]));

export const roundTo = (digits: number, value: number): number => Number(value.toFixed(digits));

/** On an overloaded machine a round goes on until each connection could have had a response. */
const maxRoundMs = 30_000;
const loadPart = "load";
/** Rates measured beside more work of others than this are not worth comparing; CPU times are. */
const maxNoise = 0.1;

/** Loads until a second brings no higher rate than the best before, so that compilers and caches have done their work. */
async function warmUp(target: Target, connections: number, spreadMs: number, maxSeconds: number): Promise<void> {
  const load = await startLoad(target, connections, spreadMs);
  let best = 0;
  for (let second = 0; second < maxSeconds; second++) {
    const before = load.completed();
    await sleep(1000);
    const rate = load.completed() - before;
    if (second > 1 && rate <= best) break;
    best = Math.max(best, rate);
  }
  await load.stop();
}

/**
 * Counts responses and CPU in a window in which every connection is busy, from after the first request until before the
 * last.
 */
async function measure(
  { target, parts, observe = async () => [] }: Contender,
  connections: number,
  spreadMs: number,
  seconds: number,
): Promise<Round> {
  const load = await startLoad(target, connections, spreadMs);
  await sleep(settleMs + spreadMs);
  const counted = { ...parts, [loadPart]: () => [process.pid] };
  const observedBefore = await observe();
  const before = readCpuTimes(counted);
  const [startedAt, startedWith] = [performance.now(), load.completed()];
  let [requests, elapsedMs] = [0, 0];
  do {
    await sleep(seconds * 1000);
    requests = load.completed() - startedWith;
    elapsedMs = performance.now() - startedAt;
  } while (requests < connections && elapsedMs < maxRoundMs);
  const after = readCpuTimes(counted);
  const pids = Object.values(parts).flatMap((pidsOf) => pidsOf());
  const processes = usesBetween(observedBefore, await observe(), pids);
  await load.stop();
  return { ...cpuUse(before, after), requests, rate: (requests / elapsedMs) * 1000, processes };
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

const machine = ({ foreign, stolen, idle }: CpuUse): string =>
  `foreign ${percent(foreign)}, stolen ${percent(stolen)}, idle ${percent(idle)}`;

const noiseOf = (rounds: readonly Round[]): number =>
  roundTo(2, median(rounds.map(({ foreign, stolen }) => foreign + stolen)));

/** Over all rounds, because a tick of the kernel's clock is long beside one of them. */
function cpuPerRequest(rounds: readonly Round[]): Record<string, number> {
  const requests = rounds.reduce((sum, round) => sum + round.requests, 0);
  const names = Object.keys(rounds[0]?.parts ?? {});
  const sums = names.map((name): [string, number] => [
    name,
    rounds.reduce((sum, { parts }) => sum + (parts[name] ?? 0), 0) / requests,
  ]);
  const total = sums.reduce((sum, [name, ms]) => (name === loadPart ? sum : sum + ms), 0);
  return Object.fromEntries([["total", total], ...sums].map(([name, ms]) => [name, roundTo(3, Number(ms))]));
}

/** Processes of the same name count together. */
function busyEventLoops(rounds: readonly Round[]): Record<string, number> {
  const byName = Map.groupBy(
    rounds.flatMap(({ processes }) => processes),
    ({ name }) => name,
  );
  return Object.fromEntries(
    [...byName].map(([name, uses]) => [name, roundTo(2, median(uses.map(({ utilization }) => utilization)))]),
  );
}

function toComparison(measured: ReadonlyMap<string, readonly Round[]>, connections: number): Comparison {
  const roundsFor = (name: string): readonly Round[] => {
    const rounds = measured.get(name);
    if (!rounds) throw new Error(`${name} was not measured`);
    return rounds;
  };
  const rates = (name: string) => roundsFor(name).map(({ rate }) => rate);
  return {
    reportRatio: (name, other) => {
      const others = rates(other);
      const ratio = roundTo(2, median(rates(name)) / median(others));
      const single = rates(name).map((rate, i) => roundTo(2, rate / (others[i] ?? 0)));
      const [lowest, highest] = [Math.min(...single), Math.max(...single)];
      console.error(
        `  ${name} / ${other} at ${connections} connections: ${ratio}, in single rounds ${lowest} to ${highest}`,
      );
      return { ratio, spread: roundTo(2, highest - lowest) };
    },
    rounds: roundsFor,
    cpuMs: (name) => cpuPerRequest(roundsFor(name)),
    eventLoops: (name) => busyEventLoops(roundsFor(name)),
    idleShare: (name) => roundTo(2, median(roundsFor(name).map(({ idle }) => idle))),
    foreignShare: noiseOf([...measured.values()].flat()),
  };
}

const listed = (figures: Record<string, number>): string =>
  Object.entries(figures)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");

function report(measured: ReadonlyMap<string, readonly Round[]>): void {
  for (const [name, rounds] of measured) {
    const { total, ...parts } = cpuPerRequest(rounds);
    const rate = median(rounds.map((round) => round.rate)).toFixed(0);
    console.error(`  ${name}: ${rate}/s, ${total} ms of CPU each without the load (${listed(parts)})`);
    const loops = busyEventLoops(rounds);
    if (Object.keys(loops).length > 0) console.error(`    event loops busy: ${listed(loops)}`);
  }
  const noisy = noiseOf([...measured.values()].flat());
  if (noisy > maxNoise) console.error(`  Others used ${percent(noisy)} of this machine: repeat this when it is quiet.`);
}

/** Measures all contenders in turn, in several rounds, so that other load on the machine affects each of them. */
export async function compare(
  label: string,
  contenders: readonly Contender[],
  connections: number,
  rounds: Rounds,
  spreadMs = 0,
): Promise<Comparison> {
  console.error(`${label}, ${connections} connections`);
  const measured = new Map<string, Round[]>(contenders.map(({ name }) => [name, []]));
  if (measured.size < contenders.length) throw new Error(`${label}: two contenders have the same name`);
  for (const target of new Set(contenders.map((contender) => contender.target)))
    await warmUp(target, connections, spreadMs, rounds.maxWarmUpSeconds);
  for (let i = 1; i <= rounds.count; i++) {
    const line: string[] = [];
    for (const contender of contenders) {
      const round = await measure(contender, connections, spreadMs, rounds.seconds);
      measured.get(contender.name)?.push(round);
      line.push(`${contender.name} ${round.rate.toFixed(0)}/s (${machine(round)})`);
    }
    console.error(`  round ${i}: ${line.join("; ")}`);
  }
  report(measured);
  return toComparison(measured, connections);
}
